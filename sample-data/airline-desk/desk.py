"""The airline: its simulated database and the tools that act on it.

Every name, code, number and price is invented. A tool answers with text, as a
tool message holds it: JSON, a plain sentence, or `Error: ...`.
"""

import hashlib
import json
import re

POLICY = """# Desk policy

The current time is 2025-03-10 09:00:00. You help travellers of Cirrus Air to book, change and cancel reservations.

- Ask for the user id first. Before any change to the database, state what you will do and what it costs, and wait for a yes.
- One tool call at a time. Do not answer the user and call a tool in the same turn.
- Booking: at most one certificate per reservation; other costs go to a card or gift card in the profile.
- Changing flights: basic economy cannot be changed. Origin and destination stay the same. A cabin applies to the whole reservation.
- Bags: free per passenger for regular / silver / gold members: basic economy 0/1/2, economy 1/2/3, business 2/3/3. Each further bag is $50.
- Passengers: names and birth dates can be corrected, the number of passengers cannot change.
- Cancelling: only within 24 hours of booking, or in business, or with insurance. Otherwise refuse.
- Compensation, if the user asks: silver or gold members, insured or business travellers get a certificate: $50 per passenger for a delayed flight, $100 for a cancelled one.
- Transfer to a human only if the request cannot be handled with these rules and tools.
"""

BAG_FEE = 50
FREE_BAGS = {
    "basic_economy": {"regular": 0, "silver": 1, "gold": 2},
    "economy": {"regular": 1, "silver": 2, "gold": 3},
    "business": {"regular": 2, "silver": 3, "gold": 3},
}
DATES = [f"2025-03-{day}" for day in range(12, 21)]

# number: origin, destination, departure, arrival, base price of economy
ROUTES = {
    "CA101": ("ALD", "LUM", "07:30", "09:40", 118),
    "CA103": ("ALD", "LUM", "12:45", "14:55", 142),
    "CA105": ("ALD", "LUM", "18:10", "20:20", 131),
    "CA202": ("LUM", "ALD", "09:00", "11:10", 124),
    "CA204": ("LUM", "ALD", "16:20", "18:30", 137),
    "CA310": ("KES", "NVK", "08:15", "09:25", 86),
    "CA312": ("KES", "NVK", "14:00", "15:10", 94),
    "CA420": ("SMR", "ORM", "10:05", "13:00", 163),
    "CA422": ("SMR", "ORM", "19:30", "22:25", 149),
}
FULL = {("CA312", "2025-03-17", "economy"), ("CA422", "2025-03-18", "economy"), ("CA105", "2025-03-15", "business")}
PAST = {("CA202", "2025-03-09"): "delayed", ("CA310", "2025-03-09"): "cancelled"}


def make_flights():
    flights = {}
    for order, (number, (origin, destination, departs, arrives, base)) in enumerate(ROUTES.items()):
        dates = {}
        for day, date in enumerate(DATES):
            economy = base + (7 * day + 11 * order) % 23
            prices = {"basic_economy": economy - 45, "economy": economy, "business": 2 * economy + 60}
            seats = {
                cabin: 0 if (number, date, cabin) in FULL else (5 * day + 3 * order + spread) % 9 + 2
                for cabin, spread in (("basic_economy", 4), ("economy", 0), ("business", 6))
            }
            dates[date] = {"status": "available", "available_seats": seats, "prices": prices}
        flights[number] = {
            "flight_number": number,
            "origin": origin,
            "destination": destination,
            "departure_time": departs,
            "arrival_time": arrives,
            "dates": dates,
        }
    for (number, date), status in PAST.items():
        flights[number]["dates"][date] = {"status": status}
    return flights


def person(first, last, born):
    return {"first_name": first, "last_name": last, "dob": born}


def user(first, last, born, membership, methods, reservations):
    return {
        "name": {"first_name": first, "last_name": last},
        "dob": born,
        "email": f"{first}.{last}@example.com".lower(),
        "membership": membership,
        "payment_methods": methods,
        "reservations": reservations,
    }


def card(last_four):
    return {"source": "credit_card", "last_four": last_four}


def gift(amount):
    return {"source": "gift_card", "amount": amount}


def certificate(amount):
    return {"source": "certificate", "amount": amount}


def make_users():
    return {
        "ada_quill_3101": user("Ada", "Quill", "1988-02-11", "silver", {"card_5510": card("5510")}, []),
        "bram_osei_4720": user("Bram", "Osei", "1975-09-30", "regular", {"card_2238": card("2238")}, ["TQ4MZA"]),
        "cleo_varga_1189": user("Cleo", "Varga", "1993-06-04", "regular", {"card_9071": card("9071")}, ["PL8XWN"]),
        "dov_lindqvist_6604": user(
            "Dov", "Lindqvist", "1981-12-19", "regular", {"card_4402": card("4402"), "gift_3310": gift(180)}, ["RB2KHE"]
        ),
        "esi_marlow_2957": user(
            "Esi", "Marlow", "1969-04-27", "regular", {"card_7713": card("7713"), "gift_8846": gift(240)}, ["VN6DCS"]
        ),
        "finn_okoro_8035": user("Finn", "Okoro", "1999-01-15", "regular", {"card_6120": card("6120")}, ["HW9TJP"]),
        "gia_tamura_5542": user("Gia", "Tamura", "1985-07-08", "silver", {"card_3094": card("3094")}, ["ZC3FUY"]),
        "hugo_brandt_7716": user("Hugo", "Brandt", "1978-10-22", "gold", {"card_8157": card("8157")}, ["MK5RLA"]),
        "iris_novak_9263": user(
            "Iris", "Novak", "1990-03-03", "regular", {"card_1985": card("1985"), "gift_4471": gift(90)}, ["XG7QBD", "AY1VNT"]
        ),
        "joel_ferrant_3378": user(
            "Joel",
            "Ferrant",
            "1983-11-26",
            "regular",
            {"card_6643": card("6643"), "certificate_1170": certificate(60), "certificate_2250": certificate(100)},
            [],
        ),
        "kaya_dunmore_4409": user("Kaya", "Dunmore", "1996-08-17", "gold", {"card_5028": card("5028")}, ["JD4SEK"]),
        "lev_abara_6891": user("Lev", "Abara", "1972-05-13", "regular", {"card_7360": card("7360")}, ["UF2GOX", "BN8CRI", "WE5PHL"]),
    }


def make_reservations(flights, users):
    def booked(code, owner, cabin, legs, passengers, pays, bags=0, insurance="no", created="2025-02-20T10:15:00"):
        listed = []
        for number, date in legs:
            prices = flights[number]["dates"][date].get("prices", {"basic_economy": 70, "economy": 115, "business": 290})
            flight = flights[number]
            listed.append(
                {
                    "flight_number": number,
                    "origin": flight["origin"],
                    "destination": flight["destination"],
                    "date": date,
                    "price": prices[cabin],
                }
            )
        total = sum(leg["price"] for leg in listed) * len(passengers)
        return {
            "reservation_id": code,
            "user_id": owner,
            "origin": listed[0]["origin"],
            "destination": listed[0]["destination"],
            "flight_type": "one_way",
            "cabin": cabin,
            "flights": listed,
            "passengers": passengers,
            "payment_history": [{"payment_id": pays, "amount": total}],
            "created_at": created,
            "total_baggages": bags,
            "nonfree_baggages": 0,
            "insurance": insurance,
        }

    def self_of(owner):
        return person(users[owner]["name"]["first_name"], users[owner]["name"]["last_name"], users[owner]["dob"])

    bram, cleo, dov, esi = "bram_osei_4720", "cleo_varga_1189", "dov_lindqvist_6604", "esi_marlow_2957"
    finn, gia, hugo, iris = "finn_okoro_8035", "gia_tamura_5542", "hugo_brandt_7716", "iris_novak_9263"
    kaya, lev = "kaya_dunmore_4409", "lev_abara_6891"
    rows = [
        booked("TQ4MZA", bram, "economy", [("CA420", "2025-03-16")], [person("Bran", "Osei", "1975-09-30")], "card_2238", 1),
        booked("PL8XWN", cleo, "economy", [("CA101", "2025-03-13")], [self_of(cleo)], "card_9071", 1),
        booked("RB2KHE", dov, "economy", [("CA310", "2025-03-15")], [self_of(dov)], "card_4402", 1),
        booked("VN6DCS", esi, "economy", [("CA310", "2025-03-14")], [self_of(esi)], "card_7713", 1),
        booked("HW9TJP", finn, "economy", [("CA422", "2025-03-19")], [self_of(finn)], "card_6120", 0, "yes"),
        booked("ZC3FUY", gia, "economy", [("CA103", "2025-03-18")], [self_of(gia)], "card_3094", 2),
        booked(
            "MK5RLA", hugo, "economy", [("CA202", "2025-03-09")],
            [self_of(hugo), person("Nele", "Brandt", "2009-05-02")], "card_8157", 2,
        ),
        booked("XG7QBD", iris, "economy", [("CA204", "2025-03-15")], [self_of(iris)], "card_1985", 1, "yes"),
        booked("AY1VNT", iris, "basic_economy", [("CA101", "2025-03-20")], [self_of(iris)], "card_1985"),
        booked("JD4SEK", kaya, "basic_economy", [("CA312", "2025-03-19")], [self_of(kaya)], "card_5028", 1),
        booked("UF2GOX", lev, "economy", [("CA420", "2025-03-13")], [self_of(lev)], "card_7360", 1, "yes"),
        booked("BN8CRI", lev, "economy", [("CA422", "2025-03-16")], [self_of(lev)], "card_7360", 1),
        booked("WE5PHL", lev, "business", [("CA420", "2025-03-20")], [self_of(lev)], "card_7360", 2),
    ]
    return {row["reservation_id"]: row for row in rows}


class ToolError(Exception):
    """What the tool says after `Error: `."""


class Desk:
    """One copy of the database, and the tools."""

    TOOLS = (
        "get_user_details",
        "get_reservation_details",
        "search_direct_flight",
        "calculate",
        "think",
        "book_reservation",
        "update_reservation_flights",
        "update_reservation_baggages",
        "update_reservation_passengers",
        "cancel_reservation",
        "send_certificate",
        "transfer_to_human_agents",
    )

    def __init__(self):
        self.flights = make_flights()
        self.users = make_users()
        self.reservations = make_reservations(self.flights, self.users)

    def call(self, name, arguments):
        if name not in self.TOOLS:
            return f"Error: unknown tool {name}"
        try:
            answer = getattr(self, name)(**arguments)
        except ToolError as error:
            return f"Error: {error}"
        return answer if isinstance(answer, str) else json.dumps(answer)

    def digest(self):
        state = json.dumps([self.flights, self.users, self.reservations], sort_keys=True)
        return hashlib.sha256(state.encode()).hexdigest()

    # reading

    def get_user_details(self, user_id):
        return self._user(user_id)

    def get_reservation_details(self, reservation_id):
        return self._reservation(reservation_id)

    def search_direct_flight(self, origin, destination, date):
        found = []
        for flight in self.flights.values():
            on_date = flight["dates"].get(date)
            if (flight["origin"], flight["destination"]) == (origin, destination) and on_date:
                if on_date["status"] == "available":
                    found.append({**{key: flight[key] for key in flight if key != "dates"}, **on_date})
        return found

    def calculate(self, expression):
        if not re.fullmatch(r"[0-9+\-*/(). ]+", expression):
            raise ToolError("only digits and + - * / ( ) are allowed in an expression")
        return str(round(float(eval(expression, {"__builtins__": {}})), 2))

    def think(self, thought):
        return ""

    # writing

    def book_reservation(
        self, user_id, origin, destination, flight_type, cabin, flights, passengers,
        payment_methods, total_baggages, nonfree_baggages, insurance,
    ):
        owner = self._user(user_id)
        legs = [self._leg(leg, cabin, len(passengers)) for leg in flights]
        total = sum(leg["price"] for leg in legs) * len(passengers) + BAG_FEE * nonfree_baggages
        total += 30 * len(passengers) if insurance == "yes" else 0
        for payment in payment_methods:
            self._can_pay(owner, payment["payment_id"], payment["amount"])
        if sum(self._method(owner, payment["payment_id"])["source"] == "certificate" for payment in payment_methods) > 1:
            raise ToolError("only one certificate can be used for a reservation")
        paid = sum(payment["amount"] for payment in payment_methods)
        if paid != total:
            raise ToolError(f"the payments add up to {paid}, but the total price is {total}")
        for payment in payment_methods:
            self._pay(owner, payment["payment_id"], payment["amount"])
        for leg in legs:
            self.flights[leg["flight_number"]]["dates"][leg["date"]]["available_seats"][cabin] -= len(passengers)
        code = f"NEW{len(self.reservations):03d}"
        self.reservations[code] = {
            "reservation_id": code,
            "user_id": user_id,
            "origin": origin,
            "destination": destination,
            "flight_type": flight_type,
            "cabin": cabin,
            "flights": legs,
            "passengers": passengers,
            "payment_history": payment_methods,
            "created_at": "2025-03-10T09:00:00",
            "total_baggages": total_baggages,
            "nonfree_baggages": nonfree_baggages,
            "insurance": insurance,
        }
        owner["reservations"].append(code)
        return self.reservations[code]

    def update_reservation_flights(self, reservation_id, cabin, flights, payment_id):
        reservation = self._open(reservation_id)
        owner = self._user(reservation["user_id"])
        people = len(reservation["passengers"])
        kept = {(leg["flight_number"], leg["date"]): leg for leg in reservation["flights"]}
        legs = []
        for leg in flights:
            same = kept.get((leg["flight_number"], leg["date"]))
            legs.append(same if same and cabin == reservation["cabin"] else self._leg(leg, cabin, people))
        due = (sum(leg["price"] for leg in legs) - sum(leg["price"] for leg in reservation["flights"])) * people
        if self._method(owner, payment_id)["source"] == "certificate":
            raise ToolError("a certificate cannot be used to change a reservation")
        self._can_pay(owner, payment_id, due)
        self._pay(owner, payment_id, due)
        reservation["flights"], reservation["cabin"] = legs, cabin
        if due:
            reservation["payment_history"].append({"payment_id": payment_id, "amount": due})
        return reservation

    def update_reservation_baggages(self, reservation_id, total_baggages, nonfree_baggages, payment_id):
        reservation = self._open(reservation_id)
        owner = self._user(reservation["user_id"])
        due = BAG_FEE * max(0, nonfree_baggages - reservation["nonfree_baggages"])
        self._can_pay(owner, payment_id, due)
        self._pay(owner, payment_id, due)
        reservation["total_baggages"], reservation["nonfree_baggages"] = total_baggages, nonfree_baggages
        if due:
            reservation["payment_history"].append({"payment_id": payment_id, "amount": due})
        return reservation

    def update_reservation_passengers(self, reservation_id, passengers):
        reservation = self._open(reservation_id)
        if len(passengers) != len(reservation["passengers"]):
            raise ToolError("the number of passengers cannot change")
        reservation["passengers"] = passengers
        return reservation

    def cancel_reservation(self, reservation_id):
        reservation = self._open(reservation_id)
        refunds = [{**payment, "amount": -payment["amount"]} for payment in reservation["payment_history"]]
        reservation["payment_history"] = reservation["payment_history"] + refunds
        reservation["status"] = "cancelled"
        return reservation

    def send_certificate(self, user_id, amount):
        owner = self._user(user_id)
        name = f"certificate_{9000 + len(owner['payment_methods'])}"
        owner["payment_methods"][name] = {"source": "certificate", "amount": amount}
        return f"{name} with amount {amount} was added to {user_id}"

    def transfer_to_human_agents(self, summary):
        return "Transfer successful"

    # looking up

    def _user(self, user_id):
        if user_id not in self.users:
            raise ToolError(f"no user with id {user_id}")
        return self.users[user_id]

    def _reservation(self, reservation_id):
        if reservation_id not in self.reservations:
            raise ToolError(f"no reservation with id {reservation_id}")
        return self.reservations[reservation_id]

    def _open(self, reservation_id):
        reservation = self._reservation(reservation_id)
        if reservation.get("status") == "cancelled":
            raise ToolError(f"reservation {reservation_id} is cancelled")
        return reservation

    def _leg(self, leg, cabin, people):
        flight = self.flights.get(leg["flight_number"])
        on_date = flight and flight["dates"].get(leg["date"])
        if not on_date or on_date["status"] != "available":
            raise ToolError(f"flight {leg['flight_number']} is not available on {leg['date']}")
        if on_date["available_seats"][cabin] < people:
            raise ToolError(f"not enough {cabin} seats on flight {leg['flight_number']} on {leg['date']}")
        return {
            "flight_number": leg["flight_number"],
            "origin": flight["origin"],
            "destination": flight["destination"],
            "date": leg["date"],
            "price": on_date["prices"][cabin],
        }

    def _method(self, owner, payment_id):
        if payment_id not in owner["payment_methods"]:
            raise ToolError(f"no payment method {payment_id} in the profile")
        return owner["payment_methods"][payment_id]

    def _can_pay(self, owner, payment_id, amount):
        method = self._method(owner, payment_id)
        if method["source"] != "credit_card" and method["amount"] < amount:
            raise ToolError(f"{payment_id} holds {method['amount']}, which is less than {amount}")

    def _pay(self, owner, payment_id, amount):
        method = owner["payment_methods"][payment_id]
        if method["source"] == "gift_card":
            method["amount"] -= amount
        elif method["source"] == "certificate":
            del owner["payment_methods"][payment_id]
