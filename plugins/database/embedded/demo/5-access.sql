-- Roles, grants and row policies of the demo database.
--
--   anon     callers without a credential: reads the catalogue, the countries and the totals of sales
--   shopper  a customer, session variable user_id = customer_id: sees and edits their own data and playlists, buys
--   clerk    an employee, session variable user_id = employee_id: sees their own customers, edits the catalogue

create role anon nologin;
create role shopper nologin;
create role clerk nologin;
comment on role anon is 'Callers without a credential';
comment on role shopper is 'Customers; session variable user_id is the customer_id';
comment on role clerk is 'Employees; session variable user_id is the employee_id';

create function session_user_id() returns integer stable
  return nullif(current_setting('session.user_id', true), '')::integer;
comment on function session_user_id() is 'The session variable user_id';

grant usage on schema public to anon, shopper, clerk;

grant select on artist, album, genre, track, track_file, playlist, playlist_track, country, timezone, country_timezone,
  album_summary, track_sales, sales_by_country to anon, shopper, clerk;
grant select (employee_id, first_name, last_name, title, reports_to) on employee to anon, shopper;

revoke execute on function purchase(integer[]), full_name(customer), latest_invoice(customer) from public;
grant execute on function purchase(integer[]) to shopper;
grant execute on function full_name(customer), latest_invoice(customer) to shopper, clerk;

grant select on customer, customer_contact, invoice, invoice_line to shopper, clerk;
grant update (email, phone, address, company) on customer to shopper;
grant update (first_name, last_name, email, phone) on customer_contact to clerk;
grant update (first_name, last_name, email, phone, address, company) on customer to clerk;
grant insert (name), update (name), delete on playlist to shopper;
grant insert, delete on playlist_track to shopper;
grant select on employee to clerk;
grant insert, update, delete on artist, album, genre, track, track_file to clerk;

alter table customer enable row level security;
create policy customer_self on customer to shopper
  using (customer_id = session_user_id());
create policy customer_of_clerk on customer to clerk
  using (support_rep_id = session_user_id());

alter table invoice enable row level security;
create policy invoice_of_customer on invoice for select to shopper
  using (customer_id = nullif(current_setting('session.user_id', true), '')::integer);
create policy invoice_of_clerk on invoice for select to clerk
  using (exists (select from customer where customer.customer_id = invoice.customer_id));

alter table invoice_line enable row level security;
create policy invoice_line_of_invoice on invoice_line for select to shopper, clerk
  using (exists (select from invoice where invoice.invoice_id = invoice_line.invoice_id));

alter table playlist enable row level security;
create policy playlist_read on playlist for select
  using (true);
create policy playlist_write on playlist to shopper
  using (owner_id = session_user_id());

alter table playlist_track enable row level security;
create policy playlist_track_read on playlist_track for select
  using (true);
create policy playlist_track_write on playlist_track to shopper
  using (exists (
    select from playlist where playlist.playlist_id = playlist_track.playlist_id and playlist.owner_id = session_user_id()));
