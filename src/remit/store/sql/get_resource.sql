SELECT * FROM resources WHERE account = :account AND calendar = :calendar AND path = :path;
