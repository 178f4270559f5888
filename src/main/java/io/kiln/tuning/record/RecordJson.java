// SPDX-License-Identifier: Apache-2.0
package io.kiln.tuning.record;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.core.json.JsonReadFeature;
import io.kiln.tuning.record.RecordValue.Flag;
import io.kiln.tuning.record.RecordValue.Items;
import io.kiln.tuning.record.RecordValue.Members;
import io.kiln.tuning.record.RecordValue.Numeric;
import io.kiln.tuning.record.RecordValue.Text;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Parses one line of a log; nesting, strings and numbers have limits. */
final class RecordJson {
    private static final int MOST_DEPTH = 64;
    private static final int MOST_LETTERS = 100_000;
    private static final int MOST_DIGITS = 400;

    private static final JsonFactory FACTORY = JsonFactory.builder()
            .streamReadConstraints(StreamReadConstraints.builder()
                    .maxNestingDepth(MOST_DEPTH)
                    .maxStringLength(MOST_LETTERS)
                    .maxNameLength(MOST_DIGITS)
                    .maxNumberLength(MOST_DIGITS)
                    .build())
            .enable(JsonReadFeature.ALLOW_NON_NUMERIC_NUMBERS)
            .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
            .build();

    private RecordJson() {}

    /**
     * The value of a text.
     *
     * @throws IOException if it is not exactly one JSON value, or exceeds a limit
     */
    static RecordValue parse(String text) throws IOException {
        try (JsonParser parser = FACTORY.createParser(text)) {
            RecordValue value = value(parser, parser.nextToken());
            if (parser.nextToken() != null) {
                throw new IOException("more than one value");
            }
            return value;
        }
    }

    private static RecordValue value(JsonParser parser, JsonToken token) throws IOException {
        if (token == null) {
            throw new IOException("the text ends too early");
        }
        return switch (token) {
            case START_OBJECT -> members(parser);
            case START_ARRAY -> items(parser);
            case VALUE_STRING -> new Text(parser.getText());
            case VALUE_NUMBER_INT, VALUE_NUMBER_FLOAT -> new Numeric(parser.getText());
            case VALUE_TRUE -> new Flag(true);
            case VALUE_FALSE -> new Flag(false);
            case VALUE_NULL -> RecordValue.NOTHING;
            default -> throw new IOException("unexpected " + token);
        };
    }

    private static Members members(JsonParser parser) throws IOException {
        Map<String, RecordValue> values = new LinkedHashMap<>();
        while (parser.nextToken() != JsonToken.END_OBJECT) {
            String name = parser.currentName();
            values.put(name, value(parser, parser.nextToken()));
        }
        return new Members(values);
    }

    private static Items items(JsonParser parser) throws IOException {
        List<RecordValue> values = new ArrayList<>();
        for (JsonToken token = parser.nextToken(); token != JsonToken.END_ARRAY; token = parser.nextToken()) {
            values.add(value(parser, token));
        }
        return new Items(values);
    }
}
