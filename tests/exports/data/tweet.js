window.YTD.tweet.part0 = [
 {"id_str": "1", "created_at": "2013-05-14 10:20:30 +0000", "text": "An old one = with a sign"}
]
