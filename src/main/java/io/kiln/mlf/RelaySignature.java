// SPDX-License-Identifier: Apache-2.0
package io.kiln.mlf;

import io.kiln.base.DType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Types of {@code @main}'s parameters and results in an archive's Relay text. Archives before TVM 0.11 state their
 * tensors only there, and all archives state shapes only there. Unreadable parts are skipped: the text is only a
 * comment on the archive's C.
 *
 * @param inputs by sanitised name, in order
 * @param outputs in order, tuples flattened
 */
record RelaySignature(Map<String, RelayType> inputs, List<RelayType> outputs) {
    static final RelaySignature NONE = new RelaySignature(Map.of(), List.of());

    /** Signatures with weights as parameters are long; this limit is generous. */
    private static final int MOST_CHARACTERS = 1 << 20;

    private static final String MAIN = "def @main(";
    private static final String TYPE = "Tensor\\[\\(([0-9, ]*)\\), (\\w+)\\]";
    private static final Pattern NUMBER = Pattern.compile("[0-9]+");
    private static final int MOST_DIGITS = 9;
    private static final Pattern TENSOR = Pattern.compile(TYPE);
    private static final Pattern PARAMETER = Pattern.compile("%([\\w.:/]+)\\s*: " + TYPE);

    RelaySignature {
        inputs = Collections.unmodifiableMap(new LinkedHashMap<>(inputs));
        outputs = List.copyOf(outputs);
    }

    record RelayType(DType dtype, List<Integer> shape) {
        /** Size in bytes; -1 on overflow. */
        long bytes() {
            long bytes = dtype.bytes();
            for (int dim : shape) {
                if (dim != 0 && bytes > Integer.MAX_VALUE / dim) {
                    return -1;
                }
                bytes *= dim;
            }
            return bytes;
        }
    }

    /** Reads the readable types. */
    static RelaySignature of(String text) {
        int main = text.indexOf(MAIN);
        if (main < 0) {
            return NONE;
        }
        String rest = text.substring(main, Math.min(text.length(), main + MOST_CHARACTERS));
        int body = rest.indexOf(" {");
        String signature = body < 0 ? rest : rest.substring(0, body);
        int arrow = signature.lastIndexOf("->");
        Map<String, RelayType> inputs = new LinkedHashMap<>();
        Matcher parameters = PARAMETER.matcher(arrow < 0 ? signature : signature.substring(0, arrow));
        while (parameters.find()) {
            type(parameters.group(2), parameters.group(3))
                    .ifPresent(type -> inputs.putIfAbsent(sanitized(parameters.group(1)), type));
        }
        return new RelaySignature(inputs, arrow < 0 ? List.of() : results(signature.substring(arrow)));
    }

    /** A tensor's name in C, as microTVM forms it. */
    static String sanitized(String name) {
        return name.replaceAll("[^A-Za-z0-9]", "_");
    }

    private static List<RelayType> results(String text) {
        List<RelayType> outputs = new ArrayList<>();
        Matcher tensors = TENSOR.matcher(text);
        while (tensors.find()) {
            Optional<RelayType> type = type(tensors.group(1), tensors.group(2));
            if (type.isEmpty()) {
                return List.of();
            }
            outputs.add(type.get());
        }
        return outputs;
    }

    private static Optional<RelayType> type(String dims, String dtype) {
        List<Integer> shape = new ArrayList<>();
        Matcher numbers = NUMBER.matcher(dims);
        while (numbers.find()) {
            if (numbers.group().length() > MOST_DIGITS) {
                return Optional.empty();
            }
            shape.add(Integer.parseInt(numbers.group()));
        }
        return dtype(dtype).map(type -> new RelayType(type, shape));
    }

    /** An element type by its name. */
    static Optional<DType> dtype(String name) {
        return Arrays.stream(DType.values()).filter(t -> t.text().equals(name)).findFirst();
    }
}
