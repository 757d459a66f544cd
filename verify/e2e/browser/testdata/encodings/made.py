"""Prints texts in many encodings for expected.json: their bytes in base64, and the names of their encodings on the page. Needs only Python."""

import base64
import json

texts = {
    "Japanese": "測定データ\n試料の名前はシリコンです。温度は室温でした。\n時間が長いと電圧は下がります。\n",
    "Korean": "실험 데이터\n시료 이름은 실리콘이다. 온도는 실온이었다.\n시간이 길면 전압이 내려간다.\n",
    "simplified": "实验数据\n样品名称是硅片。温度是室温。\n时间长了以后电压就会下降。\n",
    "traditional": "實驗數據\n樣品名稱是矽片。溫度是室溫。\n時間長了以後電壓就會下降。\n",
    "Russian": "Данные опыта\nОбразец состоит из кремния. Температура комнатная.\nЕсли время велико, то напряжение падает.\n",
    "Czech": "Naměřená data\nVzorek je z křemíku. Teplota je pokojová, žádné výkyvy.\nPříliš dlouhý čas snižuje napětí, což čtenář ví.\n",
    "Polish": "Dane doświadczalne\nPróbka jest z krzemu. Temperatura pokojowa, żadnych wahań.\nJeśli czas jest długi, napięcie spada; każdy więc mógłby to powtórzyć.\n",
    "German": "Messdaten\nDie Probe ist aus Silizium, 20 °C, 5 µm groß.\nFür größere Längen fällt die Spannung übermäßig.\n",
    "Greek": "Δεδομένα μετρήσεων\nΤο δείγμα είναι από πυρίτιο. Η θερμοκρασία είναι σταθερή.\nΑν ο χρόνος είναι μεγάλος, η τάση πέφτει.\n",
    "Turkish": "Ölçüm verileri\nÖrnek silisyumdan yapılmıştır. Sıcaklık değişmedi, ışık yoktu.\nSüre uzun olduğunda gerilim düşer, çünkü akım artıyor.\n",
    "Hebrew": "נתוני המדידה של הניסוי\nהדגימה עשויה מצורן. הטמפרטורה היא טמפרטורת החדר, ולא השתנתה.\nכאשר הזמן ארוך המתח יורד לאט, וזה מה שרצינו לראות.\n",
    "Arabic": "بيانات التجربة\nالعينة من السيليكون. درجة الحرارة هي درجة حرارة الغرفة.\nعندما يكون الزمن طويلا ينخفض الجهد.\n",
    "Thai": "ข้อมูลการทดลอง\nตัวอย่างทำจากซิลิกอน อุณหภูมิห้องไม่เปลี่ยนแปลง\nเมื่อเวลานานขึ้นแรงดันไฟฟ้าจะลดลง\n",
}

written = [  # Python's codec, the name on the page, the text, and the number of repetitions
    ("shift_jis", "Shift-JIS", "Japanese"), ("euc_jp", "EUC-JP", "Japanese"), ("iso2022_jp", "ISO-2022-JP", "Japanese"), ("euc_kr", "EUC-KR", "Korean"),
    ("cp949", "EUC-KR", "Korean"), ("gb2312", "GB18030", "simplified"), ("gbk", "GB18030", "simplified"), ("gb18030", "GB18030", "simplified"),
    ("big5", "Big5", "traditional"), ("koi8_r", "KOI8-R", "Russian"), ("cp1251", "Windows-1251", "Russian"), ("iso8859_5", "ISO-8859-5", "Russian"),
    ("cp866", "IBM866", "Russian"), ("mac_cyrillic", "Mac Cyrillic", "Russian"), ("cp1250", "Windows-1250", "Czech"), ("iso8859_2", "ISO-8859-2", "Polish"),
    ("cp1252", "Latin-1", "German"), ("mac_roman", "Mac Roman", "German"), ("cp1253", "Windows-1253", "Greek"), ("cp1254", "Windows-1254", "Turkish"),
    ("cp1255", "Windows-1255", "Hebrew"), ("cp1256", "Windows-1256", "Arabic"), ("cp874", "Windows-874", "Thai"), ("utf_8", "UTF-8", "Thai"),
    ("utf_8_sig", "UTF-8", "Korean"), ("utf_16", "UTF-16LE", "Japanese"), ("utf_16_le", "UTF-16LE", "German"), ("utf_16_be", "UTF-16BE", "German"),
    ("utf_16_le", "UTF-16LE", "Russian"), ("utf_32", "UTF-32LE", "Greek"), ("utf_32_le", "UTF-32LE", "German"), ("utf_32_be", "UTF-32BE", "Japanese"),
]

print(json.dumps([{"codec": codec, "name": name, "text": texts[of], "content": base64.b64encode(texts[of].encode(codec)).decode()} for codec, name, of in written], indent=1, ensure_ascii=False))
