package query_test

var quantityTests = []parsed{
	one("temperature:>20C", property("temperature", "", beyond(20, "C"), nil)),
	one("temperature:<-20.5°C", property("temperature", "", nil, beyond(-20.5, "°C"))),
	one("temperature:≤−5K", property("temperature", "", nil, closed(-5, "K"))),
	one("temperature:>20,5°C", property("temperature", "", beyond(20.5, "°C"), nil)),
	one("temperature:20,5..1.025,5C", property("temperature", "", closed(20.5, "C"), closed(1025.5, "C"))),
	one(`temperature:>"20,5 °C"`, property("temperature", "", beyond(20.5, "°C"), nil)),
	one("n:>1'234", property("n", "", beyond(1234, ""), nil)),
	one(`rate:>"5 1/s"`, property("rate", "", beyond(5, "1/s"), nil)),
	one("temperature:20C..25C", property("temperature", "", closed(20, "C"), closed(25, "C"))),
	one("temperature:20..25C", property("temperature", "", closed(20, "C"), closed(25, "C"))),
	one("temperature:-5..", property("temperature", "", closed(-5, ""), nil)),
	one("width:5mm", property("width", "5mm", closed(5, "mm"), closed(5, "mm"))),
	one(`width:"5 mm"`, property("width", "5 mm", closed(5, "mm"), closed(5, "mm"))),
	one(`width:>"5 mm"`, property("width", "", beyond(5, "mm"), nil)),
	one(`width:"5 mm .. 1 cm"`, property("width", "", closed(5, "mm"), closed(1, "cm"))),
	one("energy:5eV", property("energy", "5ev", closed(5, "eV"), closed(5, "eV"))),
	one("energy:5e3eV", property("energy", "5e3ev", closed(5000, "eV"), closed(5000, "eV"))),
	one("n:.5", property("n", "5", closed(.5, ""), closed(.5, ""))),
	one("n:1e999", property("n", "1e999", nil, nil)),
	one("n:1-2", property("n", "1 2", nil, nil)),
}
