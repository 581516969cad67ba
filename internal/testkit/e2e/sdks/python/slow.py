"""A shop with a slow function, a slow query and a lock, with Sentry's SDK for Flask. SENTRY_DSN says where to.

Prints its port, and serves until its input ends.
"""
import math
import sys
import tempfile
import threading
import time

import sentry_sdk
from flask import Flask
from sqlalchemy import create_engine, text
from werkzeug.serving import make_server

SLOW = """WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 400000)
SELECT count(*) FROM orders, n WHERE customer = :customer AND i % 7 = 3"""

sentry_sdk.init(
    release="slow-flask@1.0.0", environment="test", traces_sample_rate=1.0, profile_session_sample_rate=1.0, profile_lifecycle="manual",
)
app = Flask(__name__)
engine = create_engine("sqlite:///" + tempfile.mkdtemp() + "/shop.db")
stock_lock = threading.Lock()
with engine.begin() as setup:
    setup.execute(text("CREATE TABLE orders (id INTEGER PRIMARY KEY, customer INTEGER)"))
    setup.execute(text("INSERT INTO orders (customer) VALUES (1), (2), (3)"))


@app.get("/report/<int:month>")
def report(month):
    return str(price_report(month))


def price_report(month):
    end, total = time.perf_counter() + 0.4, float(month)
    while time.perf_counter() < end:
        total = math.sqrt(total + 1.7)
    return total


@app.get("/orders/<int:customer>")
def orders(customer):
    with engine.connect() as connection:
        return str(connection.execute(text(SLOW), {"customer": customer}).scalar())


@app.get("/cart/<int:item>")
def cart(item):
    reserve_stock()
    return str(item)


def reserve_stock():
    with stock_lock:
        time.sleep(0.03)


server = make_server("127.0.0.1", 0, app, threaded=True)
threading.Thread(target=server.serve_forever, daemon=True).start()
sentry_sdk.profiler.start_profiler()
print(server.port, flush=True)
sys.stdin.read()
sentry_sdk.profiler.stop_profiler()
time.sleep(0.5)  # the profiler's thread writes the last chunk when it next wakes up
sentry_sdk.get_client().close(timeout=20)
