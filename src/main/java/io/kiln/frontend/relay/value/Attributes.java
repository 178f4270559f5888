// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.relay.value;

import io.kiln.base.DType;
import io.kiln.base.NearMiss;
import io.kiln.frontend.GraphProblems;
import io.kiln.ir.op.AttributeReader;
import io.kiln.ir.op.Spelling;
import io.kiln.ir.op.call.ControlFlow.FunctionRef;
import io.kiln.ir.text.Place;
import io.kiln.ir.text.RelaySyntax.Attribute;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.regex.Pattern;

/**
 * The attributes of one call or function, read by name and type; problems are reported, and a valid value replaces a
 * wrong one.
 */
public final class Attributes implements AttributeReader {
    /** What only TVM's parser reads: the type of attributes, and that of the result, which Kiln infers. */
    private static final Set<String> NOT_READ = Set.of(Spelling.TYPE_KEY, Spelling.RESULT_SHAPE, Spelling.RESULT_DTYPE);

    private final String owner;
    private final Place place;
    private final GraphProblems findings;
    private final Map<String, Attribute> byName = new LinkedHashMap<>();
    private final Set<String> read = new HashSet<>();

    /**
     * @param owner the operator's or function's name in messages
     * @param place its place in the text
     */
    public Attributes(String owner, Place place, List<Attribute> attributes, GraphProblems findings) {
        this.owner = owner;
        this.place = place;
        this.findings = findings;
        for (Attribute attribute : attributes) {
            if (NOT_READ.contains(attribute.name())) {
                continue;
            }
            if (byName.putIfAbsent(attribute.name(), attribute) != null) {
                findings.add(
                        attribute.place(), owner + " has the attribute " + attribute.name() + " twice", "once", "");
            }
        }
    }

    @Override
    public int integer(String name, int min, int max) {
        return read(name, min, a -> integer(a, a.value(), min, max));
    }

    public int integer(String name, int min, int max, int otherwise) {
        return has(name) ? integer(name, min, max) : otherwise;
    }

    @Override
    public List<Integer> integers(String name, int min, int max, Integer... sizes) {
        String what = sizes.length == 0 ? "a list" : "a list of " + sizes[sizes.length - 1];
        return list(
                name,
                items -> sizes.length == 0 || List.of(sizes).contains(items.size()),
                what + " whole numbers",
                (attribute, item) -> integer(attribute, item, min, max));
    }

    public List<Integer> integers(String name, int min, int max, List<Integer> otherwise, Integer... sizes) {
        return has(name) ? integers(name, min, max, sizes) : otherwise;
    }

    /** Whether it exists and holds a list. */
    public boolean isList(String name) {
        return has(name) && byName.get(name).value() instanceof List<?>;
    }

    @Override
    public int function(String name) {
        return read(
                name,
                0,
                a -> a.value() instanceof FunctionRef ref
                        ? ref.index()
                        : wrong(a, "the name of a function, such as @body", 0));
    }

    @Override
    public double real(String name) {
        return read(
                name, 0.0, a -> a.value() instanceof Number number ? number.doubleValue() : wrong(a, "a number", 0.0));
    }

    public double real(String name, double otherwise) {
        return has(name) ? real(name) : otherwise;
    }

    @Override
    public List<Double> reals(String name) {
        return list(
                name,
                items -> items.stream().allMatch(Number.class::isInstance),
                "a list of numbers",
                (attribute, item) -> ((Number) item).doubleValue());
    }

    public List<String> strings(String name) {
        return list(
                name,
                items -> items.stream().allMatch(String.class::isInstance),
                "a list of strings",
                (attribute, item) -> (String) item);
    }

    @Override
    public String text(String name, Pattern form) {
        return read(
                name,
                "",
                a -> a.value() instanceof String text && form.matcher(text).matches()
                        ? text
                        : wrong(a, "text like " + form.pattern(), ""));
    }

    /** A string that must be one of these; optional. */
    public String choiceOr(String name, String otherwise, String... allowed) {
        return has(name) ? choice(name, allowed) : otherwise;
    }

    @Override
    public boolean truth(String name, boolean otherwise) {
        Optional<Attribute> attribute = value(name);
        if (attribute.isEmpty()) {
            return otherwise;
        }
        Object value = attribute.get().value();
        if (value instanceof Boolean || List.of(0L, 1L).contains(value)) {
            return value.equals(true) || value.equals(1L);
        }
        return wrong(attribute.get(), "True or False", otherwise);
    }

    @Override
    public DType dtype(String name, DType... allowed) {
        List<DType> dtypes = allowed.length == 0 ? List.of(DType.values()) : List.of(allowed);
        String text = choice(name, dtypes.stream().map(DType::text).toArray(String[]::new));
        return dtypes.stream()
                .filter(dtype -> dtype.text().equals(text))
                .findFirst()
                .orElseThrow();
    }

    @Override
    public List<List<Integer>> pairs(String name, int min, int max) {
        return list(
                name,
                items -> items.stream().allMatch(item -> item instanceof List<?> pair && pair.size() == 2),
                "a list of pairs of whole numbers",
                (attribute, item) -> ((List<?>) item)
                        .stream().map(n -> integer(attribute, n, min, max)).toList());
    }

    @Override
    public String choice(String name, String... allowed) {
        Optional<Attribute> attribute = value(name);
        if (attribute.isEmpty()) {
            findings.add(place, owner + " has no attribute " + name, name + "=" + oneOf(allowed), "");
            return allowed[0];
        }
        return attribute.get().value() instanceof String text
                        && List.of(allowed).contains(text)
                ? text
                : wrong(attribute.get(), oneOf(allowed), allowed[0]);
    }

    @Override
    public boolean has(String name) {
        read.add(name);
        return byName.containsKey(name)
                && !Optional.empty().equals(byName.get(name).value());
    }

    public Place place(String name) {
        return byName.containsKey(name) ? byName.get(name).place() : place;
    }

    /** Marks every attribute as read. */
    public void ignoreOthers() {
        read.addAll(byName.keySet());
    }

    /** Reports every attribute that no rule has read. */
    public void refuseOthers() {
        byName.values().stream()
                .filter(a -> !read.contains(a.name()))
                .forEach(a -> findings.add(
                        a.place(),
                        owner + " has an attribute `" + a.name() + "`, which is not supported",
                        read.isEmpty()
                                ? "none"
                                : String.join(", ", read.stream().sorted().toList()),
                        NearMiss.didYouMean(a.name(), read)));
    }

    private static String oneOf(String... allowed) {
        return (allowed.length > 1 ? "one of \"" : "\"") + String.join("\", \"", allowed) + "\"";
    }

    private int integer(Attribute attribute, Object value, int min, int max) {
        return value instanceof Long number && number >= min && number <= max
                ? (int) (long) number
                : wrong(attribute, "whole numbers from " + min + " to " + max, min);
    }

    private Optional<Attribute> value(String name) {
        read.add(name);
        return Optional.ofNullable(byName.get(name));
    }

    /** An attribute that must exist, as what a function makes of it. */
    private <T> T read(String name, T standIn, Function<Attribute, T> reader) {
        return value(name).map(reader).orElseGet(() -> missing(name, standIn));
    }

    /** A list that must exist and pass a test, with what a function makes of each item. */
    private <T> List<T> list(
            String name, Predicate<List<?>> isValid, String expected, BiFunction<Attribute, Object, T> reader) {
        return read(
                name,
                List.of(),
                attribute -> attribute.value() instanceof List<?> items && isValid.test(items)
                        ? items.stream()
                                .map(item -> reader.apply(attribute, item))
                                .toList()
                        : wrong(attribute, expected, List.of()));
    }

    private <T> T missing(String name, T standIn) {
        findings.add(place, owner + " has no attribute " + name, "", "");
        return standIn;
    }

    private <T> T wrong(Attribute attribute, String expected, T standIn) {
        findings.add(
                attribute.place(), "the attribute " + attribute.name() + " of " + owner + " is wrong", expected, "");
        return standIn;
    }
}
