// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.kiln.base.Failure;
import io.kiln.base.Problems;
import io.kiln.ir.Function;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Values that the user gives to a model's inputs, which become constants before shapes are inferred.
 *
 * @param byName values by the inputs' names, in the order given
 * @param previous inputs that become state, each with the output that it gets for the next run; {@code *} stands for any characters
 */
public record InputValues(Map<String, Value> byName, Map<String, String> previous) {
    /** All inputs stay inputs. */
    public static final InputValues NONE = new InputValues(Map.of(), Map.of());

    private static final String EXPECTED =
            "name=16000 or name=[1, 2, 3], several separated by semicolons: numbers, true, false, lists of them in"
                    + " JSON, or previous(output)";

    private static final Pattern PREVIOUS = Pattern.compile("previous\\(\\s*(.+?)\\s*\\)");

    /** Names may contain semicolons; a value ends at a semicolon or at the end. */
    private static final Pattern ENTRY = Pattern.compile("\\s*([^=]+?)\\s*=([^;=]*)(?:;|$)");

    private static final int MAX_LENGTH = 100_000;
    private static final int MAX_RANK = 8;

    private static final JsonMapper JSON = JsonMapper.builder()
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
            .build();

    public InputValues {
        byName = Collections.unmodifiableMap(new LinkedHashMap<>(byName));
        previous = Collections.unmodifiableMap(new LinkedHashMap<>(previous));
    }

    /**
     * The value of one input.
     *
     * @param dims sizes of its lists, the outermost first; empty for one number
     * @param numbers its numbers, row by row; 1 for {@code true}, 0 for {@code false}
     */
    public record Value(List<Integer> dims, List<BigDecimal> numbers) {
        public Value {
            dims = List.copyOf(dims);
            numbers = List.copyOf(numbers);
        }
    }

    /**
     * Parses {@code sr=16000;sizes=[1, 2];past=previous(present)}.
     *
     * @param text the text; blank for none
     * @throws io.kiln.base.KilnException with all errors in it
     */
    public static InputValues parse(String text) {
        Problems problems = new Problems(Failure.CONFIG);
        Map<String, Value> values = new LinkedHashMap<>();
        Map<String, String> previous = new LinkedHashMap<>();
        InputShapes.entries("kiln.inputValues", text, MAX_LENGTH, ENTRY, EXPECTED, problems, (name, given) -> {
            Matcher state = PREVIOUS.matcher(given.strip());
            if (values.containsKey(name) || previous.containsKey(name)) {
                problems.add("kiln.inputValues gives `" + name + "` two values", "", "one", "");
                return;
            }
            if (state.matches()) {
                previous.put(name, state.group(1));
                return;
            }
            Optional<Value> value = value(given);
            if (value.isEmpty()) {
                problems.add(
                        "kiln.inputValues gives `" + name + "` the value '" + given.strip() + "'", "", EXPECTED, "");
            } else {
                values.put(name, value.get());
            }
        });
        problems.throwIfAny();
        return new InputValues(values, previous);
    }

    /** A number or lists of numbers of one length at each depth; empty if the text is neither. */
    private static Optional<Value> value(String text) {
        JsonNode json;
        try {
            json = JSON.readTree(text.strip());
        } catch (JsonProcessingException e) {
            return Optional.empty();
        }
        List<Integer> dims = new ArrayList<>();
        for (JsonNode first = json; first.isArray() && dims.size() <= MAX_RANK; first = first.path(0)) {
            dims.add(first.size());
        }
        List<BigDecimal> numbers = new ArrayList<>();
        return dims.size() <= MAX_RANK && collect(json, dims, numbers)
                ? Optional.of(new Value(dims, numbers))
                : Optional.empty();
    }

    private static boolean collect(JsonNode json, List<Integer> dims, List<BigDecimal> numbers) {
        if (!dims.isEmpty()) {
            List<Integer> inner = dims.subList(1, dims.size());
            boolean isList = json.isArray() && json.size() == dims.get(0);
            for (int i = 0; isList && i < json.size(); i++) {
                isList = collect(json.get(i), inner, numbers);
            }
            return isList;
        }
        if (json.isNumber()) {
            numbers.add(json.decimalValue());
        } else if (json.isBoolean()) {
            numbers.add(json.booleanValue() ? BigDecimal.ONE : BigDecimal.ZERO);
        }
        return json.isNumber() || json.isBoolean();
    }

    /** The model whose inputs that become state are its own. */
    public Function withState(Function model, String file) {
        return RingStates.of(BoundStates.bind(model, previous, file));
    }

    /** Whether all inputs stay inputs. */
    public boolean isEmpty() {
        return byName.isEmpty() && previous.isEmpty();
    }
}
