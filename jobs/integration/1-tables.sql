create table customers (
  id int primary key,
  name text not null unique
);

create table orders (
  id int primary key,
  customer int not null references customers,
  cents int not null check (cents > 0)
);
