// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend;

import io.kiln.base.Failure;
import io.kiln.base.Problems;
import io.kiln.ir.type.Shape;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Shapes that the user gives to a model's inputs, replacing those in the file, and values that make inputs constants.
 *
 * @param byName shapes by the inputs' names, in the order given; empty to use the file's
 * @param values values of inputs
 * @param signature the signature of a TensorFlow Lite model whose inputs they are; empty for the first subgraph
 */
public record InputShapes(Map<String, Shape> byName, InputValues values, String signature) {
    /** The file's own shapes. */
    public static final InputShapes NONE = new InputShapes(Map.of());

    private static final String EXPECTED = "name:1,96,96,1, several separated by semicolons";

    /** Names may contain colons and semicolons; a shape ends at a semicolon or at the end. */
    private static final Pattern ENTRY =
            Pattern.compile("\\s*(.+?)\\s*:\\s*([0-9]+(?:\\s*,\\s*[0-9]+)*)\\s*(?:;\\s*|$)");

    private static final int MAX_LENGTH = 10_000;
    private static final int MAX_RANK = 8;
    private static final int MAX_DIGITS = 9;

    public InputShapes {
        byName = Collections.unmodifiableMap(new LinkedHashMap<>(byName));
    }

    /** Shapes, without values. */
    public InputShapes(Map<String, Shape> byName) {
        this(byName, InputValues.NONE, "");
    }

    /** The same shapes with values of inputs. */
    public InputShapes with(InputValues other) {
        return new InputShapes(byName, other, signature);
    }

    /** The same of a signature's inputs. */
    public InputShapes ofSignature(String other) {
        return new InputShapes(byName, values, other.strip());
    }

    /**
     * Parses {@code name:1,96,96,1;other:1,10}.
     *
     * @param text the text; blank for none
     * @throws io.kiln.base.KilnException with all errors in it
     */
    public static InputShapes parse(String text) {
        Problems problems = new Problems(Failure.CONFIG);
        Map<String, Shape> shapes = new LinkedHashMap<>();
        entries(
                "kiln.inputShapes",
                text,
                MAX_LENGTH,
                ENTRY,
                EXPECTED,
                problems,
                (name, dims) -> add(name, dims, shapes, problems));
        problems.throwIfAny();
        return new InputShapes(shapes);
    }

    /**
     * Reads a parameter's entries, one behind another.
     *
     * @param most characters of the text
     * @param entry an entry: its first group is the name, its second the rest
     * @param expected what a text should be that has no entry where one begins
     * @param each gets name and rest of each entry
     */
    static void entries(
            String parameter,
            String text,
            int most,
            Pattern entry,
            String expected,
            Problems problems,
            BiConsumer<String, String> each) {
        if (text.length() > most) {
            problems.add(parameter + " has " + text.length() + " characters", "", "at most " + most, "");
            problems.throwIfAny();
        }
        int at = 0;
        Matcher found = entry.matcher(text);
        while (at < text.length() && !text.substring(at).isBlank()) {
            if (!found.find(at) || found.start() != at) {
                problems.add(parameter + " has '" + text.substring(at) + "'", "", expected, "");
                return;
            }
            each.accept(found.group(1), found.group(2));
            at = found.end();
        }
    }

    private static void add(String name, String dims, Map<String, Shape> shapes, Problems problems) {
        List<String> texts = Stream.of(dims.split(",")).map(String::strip).toList();
        boolean tooLong = texts.stream().anyMatch(dim -> dim.length() > MAX_DIGITS);
        if (texts.size() > MAX_RANK || tooLong || texts.stream().anyMatch(dim -> dim.matches("0+"))) {
            problems.add(
                    "kiln.inputShapes gives `" + name + "` the shape (" + dims + ")",
                    "",
                    "at most " + MAX_RANK + " dimensions, each at least 1 and below 1,000,000,000",
                    "");
        } else if (shapes.containsKey(name)) {
            problems.add("kiln.inputShapes gives `" + name + "` two shapes", "", "one", "");
        } else {
            shapes.put(name, new Shape(texts.stream().map(Integer::valueOf).toList()));
        }
    }

    /** Whether the file's own shapes apply, no input has a value, and the model is its first subgraph. */
    public boolean isEmpty() {
        return byName.isEmpty() && values.isEmpty() && signature.isEmpty();
    }

    /** The form that {@link #parse} reads. */
    public String text() {
        return byName.entrySet().stream()
                .map(e -> e.getKey() + ":"
                        + e.getValue().dims().stream().map(String::valueOf).collect(Collectors.joining(",")))
                .collect(Collectors.joining(";"));
    }
}
