// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.tflite;

import io.kiln.base.Bytes;
import io.kiln.base.DType;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What an operator answers, as others publish it.
 *
 * @param operator its code
 * @param options as they stand in a file
 * @param numbers by names
 */
record PublishedVectors(String operator, Bytes options, Map<String, List<BigInteger>> numbers) {
    int size(String name) {
        return numbers.get(name).size();
    }

    byte[] bytes(String name, DType dtype) {
        return bytes(dtype, numbers.get(name));
    }

    /** Part of a list that several frames stand in. */
    Bytes frame(String name, DType dtype, int frame, int elements) {
        return Bytes.wrap(bytes(dtype, numbers.get(name).subList(frame * elements, (frame + 1) * elements)));
    }

    private static byte[] bytes(DType dtype, List<BigInteger> values) {
        ByteBuffer buffer = ByteBuffer.allocate(dtype.bytes() * values.size()).order(ByteOrder.LITTLE_ENDIAN);
        for (BigInteger value : values) {
            switch (dtype.bytes()) {
                case 2 -> buffer.putShort(value.shortValueExact());
                case 4 -> buffer.putInt(value.intValue());
                default -> buffer.putLong(value.longValue());
            }
        }
        return buffer.array();
    }

    @Override
    public String toString() {
        return operator + " of " + size("input");
    }

    /** Those of a file beside this class: cases of a name, each with lines of a name and numbers. */
    static List<PublishedVectors> all(String file) {
        List<PublishedVectors> all = new ArrayList<>();
        for (String text : resource(file).split("case ", -1)) {
            List<String> lines =
                    text.lines().filter(line -> !line.startsWith("#")).toList();
            if (lines.isEmpty()) {
                continue;
            }
            Map<String, List<BigInteger>> numbers = new LinkedHashMap<>();
            byte[] options = {};
            for (String line : lines.subList(1, lines.size())) {
                List<String> words = Arrays.asList(line.split(" ", -1));
                if (words.get(0).equals("options")) {
                    options = HexFormat.of().parseHex(words.get(1));
                    continue;
                }
                List<BigInteger> known = numbers.computeIfAbsent(words.get(0), name -> new ArrayList<>());
                words.stream().skip(1).map(BigInteger::new).forEach(known::add);
            }
            all.add(new PublishedVectors(lines.get(0), Bytes.wrap(options), numbers));
        }
        return all;
    }

    private static String resource(String file) {
        try (InputStream in = PublishedVectors.class.getResourceAsStream(file)) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
