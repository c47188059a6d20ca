"""The spider of test_scrapy.py: follows all links of a site."""
import os

import scrapy


class Tree(scrapy.Spider):
    name = "tree"
    start_urls = [os.environ.get("SITE", "http://127.0.0.1:1/") + "0"]

    def parse(self, response):
        for link in response.css("a::attr(href)").getall():
            yield response.follow(link, self.parse)
