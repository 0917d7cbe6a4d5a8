-- Views and functions of the demo database.

create view album_summary with (security_invoker = true) as
  select album.album_id, album.artist_id, album.title,
    count(track.track_id) as track_count,
    coalesce(sum(track.milliseconds), 0) as milliseconds,
    coalesce(sum(track.unit_price), 0) as price
  from album
  left join track using (album_id)
  group by album.album_id;
comment on view album_summary is 'Albums with the number, playing time and price of their tracks';
comment on column album_summary.price is 'Total price of the tracks in US dollars';

-- The next two views are not security_invoker on purpose: every caller may see the sums, but not the invoices.

create view track_sales as
  select track_id, sum(quantity) as sold, sum(quantity * unit_price) as revenue
  from invoice_line
  group by track_id;
comment on view track_sales is 'Number of sales of each track';
comment on column track_sales.revenue is 'US dollars';

create view sales_by_country as
  select country.country_code, country.name,
    count(distinct customer.customer_id) as customer_count,
    count(invoice.invoice_id) as invoice_count,
    coalesce(sum(invoice.total), 0) as revenue
  from country
  join customer using (country_code)
  left join invoice using (customer_id)
  group by country.country_code;
comment on view sales_by_country is 'Customers, purchases and revenue per country';
comment on column sales_by_country.revenue is 'US dollars';

create view customer_contact with (security_invoker = true) as
  select customer_id, first_name, last_name, email, phone
  from customer;
comment on view customer_contact is 'Contact details of customers; the view can be updated';

-- Computed fields

create function full_name(customer) returns text stable
  return $1.first_name || ' ' || $1.last_name;
comment on function full_name(customer) is 'First and last name';

create function full_name(employee) returns text stable
  return $1.first_name || ' ' || $1.last_name;
comment on function full_name(employee) is 'First and last name';

create function duration(track) returns text immutable
  return ($1.milliseconds / 60000)::text || ':' || lpad((($1.milliseconds / 1000) % 60)::text, 2, '0');
comment on function duration(track) is 'Playing time as minutes:seconds';

-- Computed relationships

create function subgenres(genre) returns setof genre stable
begin atomic
  select genre.* from genre where genre.path <@ $1.path and genre.path <> $1.path;
end;
comment on function subgenres(genre) is 'All genres below this one';

create function bestsellers(artist) returns setof track stable
begin atomic
  select track.*
  from track
  join album on album.album_id = track.album_id
  join track_sales on track_sales.track_id = track.track_id
  where album.artist_id = $1.artist_id
  order by track_sales.sold desc, track.track_id
  limit 10;
end;
comment on function bestsellers(artist) is 'The ten tracks of this artist that sold best';

create function latest_invoice(customer) returns setof invoice stable rows 1
begin atomic
  select invoice.*
  from invoice
  where invoice.customer_id = $1.customer_id
  order by invoice.invoice_date desc, invoice.invoice_id desc
  limit 1;
end;
comment on function latest_invoice(customer) is 'The last purchase of this customer';

-- Functions to call

create function search_track(query text) returns setof track stable
begin atomic
  select track.*
  from track
  where to_tsvector('simple', track.name) @@ websearch_to_tsquery('simple', query)
  order by ts_rank(to_tsvector('simple', track.name), websearch_to_tsquery('simple', query)) desc, track.track_id;
end;
comment on function search_track(query text) is 'Finds tracks by the words of their name: love -hate, "night and day", sun or moon';

create function purchase(track_ids integer[]) returns setof invoice
  volatile security definer rows 1 language plpgsql
  set search_path = public, pg_temp
as $$
declare
  buyer customer;
  bought invoice;
  unknown_id integer;
begin
  select * into buyer
  from customer
  where customer_id = nullif(current_setting('session.user_id', true), '')::integer;
  if not found then
    raise insufficient_privilege using
      message = 'a purchase needs a customer',
      hint = 'Send the customer_id as the session variable user_id.';
  end if;
  if coalesce(cardinality(track_ids), 0) = 0 then
    raise invalid_parameter_value using message = 'a purchase needs at least one track';
  end if;
  select id into unknown_id
  from unnest(track_ids) as id
  where not exists (select from track where track_id = id);
  if found then
    raise foreign_key_violation using message = format('there is no track %s', coalesce(unknown_id::text, 'null'));
  end if;

  insert into invoice (customer_id, billing_address)
  select buyer.customer_id, buyer.address || jsonb_build_object('country', country.name)
  from country
  where country.country_code = buyer.country_code
  returning * into bought;

  insert into invoice_line (invoice_id, track_id, unit_price, quantity)
  select bought.invoice_id, track.track_id, track.unit_price, count(*)
  from unnest(track_ids) as id
  join track on track.track_id = id
  group by track.track_id;

  return query
    update invoice
    set total = (select sum(unit_price * quantity) from invoice_line where invoice_line.invoice_id = bought.invoice_id)
    where invoice.invoice_id = bought.invoice_id
    returning invoice.*;
end
$$;
comment on function purchase(track_ids integer[]) is 'Buys tracks for the customer of the session and returns the invoice';
