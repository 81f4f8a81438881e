SELECT id FROM notices WHERE about = :about AND way = :way;
