// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op;

import io.kiln.base.DType;
import io.kiln.base.FixedPoint.QuantizedMultiplier;
import io.kiln.ir.type.Shape;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.ToIntFunction;
import java.util.stream.Stream;

/**
 * An attribute of an operator and its form in Relay text, for writing and for reading. Its values in the text are
 * Integer, Double, String, a reference to a function, or lists of these; truths are 1 and 0.
 *
 * @param <O> the operator
 * @param <T> the attribute's type in Java
 * @param get reads it from an operator
 * @param write adds it to the attributes of the text
 * @param read reads it from a text
 */
public record Attribute<O, T>(
        Function<O, T> get, BiConsumer<Map<String, Object>, T> write, Function<AttributeReader, T> read) {

    private static <O, T> Attribute<O, T> of(
            String name, Function<O, T> get, Function<T, Object> text, Function<AttributeReader, T> read) {
        return new Attribute<>(get, (all, value) -> all.put(name, text.apply(value)), read);
    }

    /** A whole number in a range. */
    public static <O> Attribute<O, Integer> whole(String name, ToIntFunction<O> get, int min, int max) {
        return of(name, get::applyAsInt, value -> value, a -> a.integer(name, min, max));
    }

    /** A whole number from a least one. */
    public static <O> Attribute<O, Integer> whole(String name, ToIntFunction<O> get, int min) {
        return whole(name, get, min, Integer.MAX_VALUE);
    }

    /** Any whole number. */
    public static <O> Attribute<O, Integer> whole(String name, ToIntFunction<O> get) {
        return whole(name, get, Integer.MIN_VALUE);
    }

    /** A list of whole numbers in a range, of any length unless sizes are given. */
    public static <O> Attribute<O, List<Integer>> wholes(
            String name, Function<O, List<Integer>> get, int min, int max, Integer... sizes) {
        return of(name, get, value -> value, a -> a.integers(name, min, max, sizes));
    }

    /** Dimensions of which none is reduced twice: a list that is sorted when it is read. */
    public static <O> Attribute<O, List<Integer>> axes(String name, Function<O, List<Integer>> get, int max) {
        return of(
                name,
                get,
                value -> value,
                a -> a.integers(name, 0, max).stream().sorted().distinct().toList());
    }

    /** A number in double precision. */
    public static <O> Attribute<O, Double> real(String name, Function<O, Double> get) {
        return of(name, get, value -> value, a -> a.real(name));
    }

    /** A number in single precision. */
    public static <O> Attribute<O, Float> single(String name, Function<O, Float> get) {
        return of(name, get, Float::doubleValue, a -> (float) a.real(name));
    }

    /** A list of numbers in single precision. */
    public static <O> Attribute<O, List<Float>> singles(String name, Function<O, List<Float>> get) {
        return of(
                name,
                get,
                value -> value.stream().map(Float::doubleValue).toList(),
                a -> a.reals(name).stream().map(Double::floatValue).toList());
    }

    /** Whether something holds; it does not if the text does not say so. */
    public static <O> Attribute<O, Boolean> truth(String name, Predicate<O> get) {
        return of(name, get::test, Attribute::number, a -> a.truth(name, false));
    }

    /** Whether something holds, which the text must say. */
    public static <O> Attribute<O, Boolean> flag(String name, Predicate<O> get) {
        return of(name, get::test, Attribute::number, a -> a.integer(name, 0, 1) == 1);
    }

    private static Object number(boolean truth) {
        return truth ? 1 : 0;
    }

    /** One of some values. */
    public static <O, E> Attribute<O, E> choice(
            String name, Function<O, E> get, Function<E, String> text, List<E> allowed) {
        return of(name, get, text::apply, a -> chosen(name, text, allowed, a));
    }

    private static <E> E chosen(String name, Function<E, String> text, List<E> allowed, AttributeReader a) {
        List<String> texts = allowed.stream().map(text).toList();
        return allowed.get(texts.indexOf(a.choice(name, texts.toArray(String[]::new))));
    }

    /** One of the constants of an enum, by their names. */
    @SafeVarargs
    @SuppressWarnings("varargs") // the list is only read
    public static <O, E extends Enum<E>> Attribute<O, E> name(String name, Function<O, E> get, E... allowed) {
        return choice(name, get, Enum::name, Arrays.asList(allowed));
    }

    /** One of two texts. */
    public static <O> Attribute<O, Boolean> either(String name, Predicate<O> get, String whereTrue, String whereFalse) {
        return choice(name, get::test, value -> value ? whereTrue : whereFalse, List.of(true, false));
    }

    /** An element type; any if none are listed. */
    public static <O> Attribute<O, DType> dtype(String name, Function<O, DType> get, DType... allowed) {
        DType[] own = Arrays.copyOf(allowed, allowed.length);
        return of(name, get, DType::text, a -> a.dtype(name, own));
    }

    /** The dimensions of a tensor. */
    public static <O> Attribute<O, Shape> shape(String name, Function<O, Shape> get) {
        return of(name, get, Shape::dims, a -> new Shape(a.integers(name, 1, Integer.MAX_VALUE)));
    }

    /** A list of pairs of whole numbers in a range. */
    public static <O> Attribute<O, List<List<Integer>>> pairs(
            String name, Function<O, List<List<Integer>>> get, int min, int max) {
        return of(name, get, value -> value, a -> a.pairs(name, min, max));
    }

    /** A multiplier and a shift; a prefix of their names may tell whose they are. */
    public static <O> Attribute<O, QuantizedMultiplier> multiplier(
            String prefix, Function<O, QuantizedMultiplier> get, int leastMultiplier, int leastShift, int mostShift) {
        String multiplier = prefix + "multiplier";
        String shift = prefix + "shift";
        return new Attribute<>(
                get,
                (all, value) -> {
                    all.put(multiplier, value.multiplier());
                    all.put(shift, value.shift());
                },
                a -> new QuantizedMultiplier(
                        a.integer(multiplier, leastMultiplier, Integer.MAX_VALUE),
                        a.integer(shift, leastShift, mostShift)));
    }

    public static <O> Attribute<O, Window> pool(Function<O, Window> get) {
        return new Attribute<>(
                get,
                (all, window) -> {
                    all.put("pool_size", window.kernelSize());
                    all.put("strides", window.strides());
                    all.put("dilation", window.dilation());
                    all.put("padding", window.padding());
                },
                a -> Window.read(a, "pool_size", List.of()));
    }

    /** The type in which a layer with quantized weights sums: int32 if the text leaves it out or empty. */
    public static <O> Attribute<O, DType> sums(Function<O, DType> get) {
        return of("out_dtype", get, DType::text, Attribute::sumType);
    }

    /** The same, for a layer that has rules of its own. */
    public static DType sumType(AttributeReader a) {
        String text = a.has("out_dtype") ? a.choice("out_dtype", "int32", "int64", "float32", "") : "";
        return Stream.of(DType.INT64, DType.FLOAT32)
                .filter(dtype -> dtype.text().equals(text))
                .findFirst()
                .orElse(DType.INT32);
    }

    /** A function that the operator calls. */
    public static <O> Attribute<O, Integer> function(
            String name, ToIntFunction<O> get, Function<Integer, Object> reference) {
        return of(name, get::applyAsInt, reference, a -> a.function(name));
    }

    /** Something that has several attributes in the text. */
    public static <O, T> Attribute<O, T> parts(
            Function<O, T> get, Function<T, Map<String, Object>> text, Function<AttributeReader, T> read) {
        return new Attribute<>(get, (all, value) -> all.putAll(text.apply(value)), read);
    }

    /** Two values. */
    public record Pair<A, B>(A first, B second) {}

    /** Two attributes as one, for operators that have many. */
    public <S> Attribute<O, Pair<T, S>> and(Attribute<O, S> second) {
        return new Attribute<>(
                op -> new Pair<>(get.apply(op), second.get.apply(op)),
                (all, pair) -> {
                    write.accept(all, pair.first);
                    second.write.accept(all, pair.second);
                },
                a -> new Pair<>(read.apply(a), second.read.apply(a)));
    }

    /** The same, with a value where the text has none. */
    public Attribute<O, T> or(String name, T otherwise) {
        return new Attribute<>(get, write, a -> a.has(name) ? read.apply(a) : otherwise);
    }

    /** The same, which the text leaves out if it has its usual value. */
    public Attribute<O, T> unless(String name, T usual) {
        return new Attribute<>(
                        get,
                        (all, value) -> {
                            if (!value.equals(usual)) {
                                write.accept(all, value);
                            }
                        },
                        read)
                .or(name, usual);
    }

    /** The same, after which the text says something that is equal for all operators of the name. */
    public Attribute<O, T> then(String name, Object value) {
        return new Attribute<>(
                get,
                (all, own) -> {
                    write.accept(all, own);
                    all.put(name, value);
                },
                a -> {
                    T own = read.apply(a);
                    expect(a, name, value);
                    return own;
                });
    }

    /** Reads what is equal for all operators of a name: a text must be there, a number may be left out. */
    static void expect(AttributeReader a, String name, Object value) {
        if (value instanceof Integer number) {
            if (a.has(name)) {
                a.integer(name, number, number);
            }
        } else {
            a.choice(name, (String) value);
        }
    }

    void write(O op, Map<String, Object> all) {
        write.accept(all, get.apply(op));
    }
}
