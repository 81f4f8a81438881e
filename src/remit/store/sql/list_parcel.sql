SELECT * FROM notices WHERE parcel = :parcel ORDER BY no;
