INSERT INTO event_series (uid, series_id, session_id) VALUES (:uid, :series, :session)
ON CONFLICT (uid) DO NOTHING;
