window.YTD.deleted_tweets.part0 = [
 {"tweet": {"id_str": "11", "created_at": "Mon May 01 10:00:00 +0000 2023", "full_text": "Deleted."}}
]
