// SPDX-License-Identifier: Apache-2.0
package io.kiln.ir.op;

import io.kiln.base.DType;
import io.kiln.ir.op.Operand.Role;
import io.kiln.ir.type.TensorType;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.function.ToIntBiFunction;
import java.util.function.UnaryOperator;

/**
 * What is true of all operators of a name, stated once: operands with their types and roles, attributes with their
 * form in Relay text, traits, and the type of the result. Checks of arguments, the reader and the writer of Relay text,
 * legality and the documentation follow from it.
 *
 * @param <O> the operator
 */
public final class Signature<O extends Op> {
    private final Class<O> type;
    private final String name;
    private final List<Operand<O>> operands;
    private final List<BiConsumer<O, Map<String, Object>>> written;
    private final Optional<Function<AttributeReader, O>> reader;
    private final Set<Trait> traits;
    private final Set<DType> compiled;
    private final BiFunction<O, List<TensorType>, Spelling> spelling;
    private final BiConsumer<O, Arguments> rules;
    private final BiFunction<O, List<TensorType>, TensorType> result;

    private Signature(Draft<O> from, BiFunction<O, List<TensorType>, TensorType> result) {
        this.type = from.type;
        this.name = from.name;
        this.operands = List.copyOf(from.operands);
        this.written = List.copyOf(from.written);
        this.reader = from.reader;
        this.traits = from.traits;
        this.compiled = from.compiled;
        this.spelling = from.spelling;
        this.rules = from.rules;
        this.result = result;
    }

    /** The signatures of an operator class that has one for each of its functions. */
    public static <K extends Enum<K>, O extends Op> Map<K, Signature<O>> ofEach(
            Class<K> kinds, Function<K, Signature<O>> signature) {
        Map<K, Signature<O>> signatures = new EnumMap<>(kinds);
        for (K kind : kinds.getEnumConstants()) {
            signatures.put(kind, signature.apply(kind));
        }
        return Collections.unmodifiableMap(signatures);
    }

    /**
     * Begins a signature.
     *
     * @param type the operator's class
     * @param name Relay's name, or one with a prefix for an operator of Kiln's own
     */
    public static <O extends Op> Draft<O> of(Class<O> type, String name) {
        return new Draft<>(type, name);
    }

    /** The operator's class; several names may have one. */
    public Class<O> type() {
        return type;
    }

    public String name() {
        return name;
    }

    public List<Operand<O>> operands() {
        return operands;
    }

    public Set<Trait> traits() {
        return traits;
    }

    /** Element types of the first operand that Kiln compiles. */
    public Set<DType> compiled() {
        return compiled.isEmpty() ? Set.of(DType.values()) : compiled;
    }

    /** Element types of the first operand that it accepts and Kiln compiles. */
    public Set<DType> dataTypes() {
        return !compiled.isEmpty() || operands.isEmpty()
                ? compiled()
                : operands.get(0).types();
    }

    /** The position of an operand among the arguments; those before it are of fixed number. */
    public int position(String operand) {
        return position(name, operands, operand);
    }

    /** What it says of an operator. */
    public Card<O> of(O op) {
        return new Card<>(this, op);
    }

    /** Makes the operator from attributes of a text; empty if there are several forms of text, of which a rule knows. */
    public Optional<Function<AttributeReader, O>> reader() {
        return reader;
    }

    Map<String, Object> attributes(O op) {
        Map<String, Object> all = new LinkedHashMap<>();
        written.forEach(each -> each.accept(op, all));
        return Collections.unmodifiableMap(all);
    }

    Spelling spelling(O op, List<TensorType> args) {
        return spelling.apply(op, args);
    }

    void check(O op, Arguments args) {
        rules.accept(op, args);
    }

    TensorType result(O op, List<TensorType> args) {
        return result.apply(op, args);
    }

    private static <O extends Op> int position(String name, List<Operand<O>> operands, String operand) {
        int position = 0;
        for (Operand<O> each : operands) {
            if (each.name().equals(operand)) {
                return position;
            }
            position += each.number().fixed().orElseThrow();
        }
        throw new IllegalArgumentException(name + " has no operand " + operand);
    }

    /**
     * A signature that is being stated: operands in order, attributes in the order of the text, then the rest.
     *
     * @param <O> the operator
     */
    public static final class Draft<O extends Op> {
        private final Class<O> type;
        private final String name;
        private final List<Operand<O>> operands = new ArrayList<>();
        private final List<BiConsumer<O, Map<String, Object>>> written = new ArrayList<>();
        private final List<Consumer<AttributeReader>> expected = new ArrayList<>();
        private Optional<Function<AttributeReader, O>> reader = Optional.empty();
        private Set<Trait> traits = Set.of(Trait.TAKES_CLIP);
        private Set<DType> compiled = Set.of();
        private BiFunction<O, List<TensorType>, Spelling> spelling = (op, args) -> Spelling.of(op);
        private BiConsumer<O, Arguments> rules = (op, args) -> {};

        private Draft(Class<O> type, String name) {
            this.type = type;
            this.name = name;
        }

        private Draft<O> operand(String operand, Role role, UnaryOperator<Operand<O>> conditions, DType... types) {
            operands.add(conditions.apply(Operand.of(operand, role, types)));
            return this;
        }

        /** A tensor of one of some element types, or of any. */
        public Draft<O> data(String operand, DType... types) {
            return data(operand, any -> any, types);
        }

        public Draft<O> data(String operand, UnaryOperator<Operand<O>> conditions, DType... types) {
            return operand(operand, Role.DATA, conditions, types);
        }

        /** A tensor of one of some element types. */
        public Draft<O> data(String operand, Set<DType> types) {
            return data(operand, types.toArray(DType[]::new));
        }

        /** A tensor that is known at build time. */
        public Draft<O> constant(String operand, DType... types) {
            return constant(operand, any -> any, types);
        }

        public Draft<O> constant(String operand, UnaryOperator<Operand<O>> conditions, DType... types) {
            return operand(operand, Role.CONSTANT, conditions, types);
        }

        /** A variable of the function, which the operator changes. */
        public Draft<O> state(String operand, UnaryOperator<Operand<O>> conditions, DType... types) {
            return operand(operand, Role.STATE, conditions, types);
        }

        public Draft<O> state(String operand, DType... types) {
            return state(operand, any -> any, types);
        }

        /** A constant int32. */
        public Draft<O> number(String operand) {
            return constant(operand, Operand::scalar, DType.INT32);
        }

        /** A constant scale. */
        public Draft<O> scale(String operand) {
            return scales(operand, (op, args) -> 1);
        }

        /** Constant scales: one, or as many as stated. */
        public Draft<O> scales(String operand, ToIntBiFunction<O, List<TensorType>> channels) {
            return constant(
                    operand,
                    scales -> scales.scalarOr(channels).rule((position, op, args) -> args.scales(position)),
                    DType.FLOAT32);
        }

        /** A constant zero point of data of the first operand's type. */
        public Draft<O> zeroPoint(String operand) {
            return zeroPoint(operand, (op, args) -> args.data().dtype());
        }

        /** A constant zero point of data of a type. */
        public Draft<O> zeroPoint(String operand, BiFunction<O, Arguments, DType> of) {
            return constant(
                    operand,
                    zero -> zero.scalar().rule((position, op, args) -> args.zeroPoint(position, of.apply(op, args))),
                    DType.INT32);
        }

        /** The scale and the zero point of one of several tensors. */
        public Draft<O> quantization(String of) {
            return scale(of + " scale").zeroPoint(of + " zero point");
        }

        /** Something that the text says of all operators of this name. */
        public Draft<O> says(String attribute, Object value) {
            written.add((op, all) -> all.put(attribute, value));
            expected.add(a -> Attribute.expect(a, attribute, value));
            return this;
        }

        private Draft<O> make(Function<AttributeReader, O> make) {
            List<Consumer<AttributeReader>> all = List.copyOf(expected);
            reader = Optional.of(a -> {
                all.forEach(each -> each.accept(a));
                return make.apply(a);
            });
            return this;
        }

        private <T> Function<AttributeReader, T> add(Attribute<O, T> attribute) {
            written.add(attribute::write);
            return attribute.read();
        }

        /** An operator without attributes. */
        public Draft<O> attributes(Supplier<O> make) {
            return make(a -> make.get());
        }

        public <A> Draft<O> attributes(Attribute<O, A> first, Function<A, O> make) {
            Function<AttributeReader, A> a = add(first);
            return make(in -> make.apply(a.apply(in)));
        }

        /** An operator with two attributes. */
        public <A, B> Draft<O> attributes(Attribute<O, A> first, Attribute<O, B> second, BiFunction<A, B, O> make) {
            Function<AttributeReader, A> a = add(first);
            Function<AttributeReader, B> b = add(second);
            return make(in -> make.apply(a.apply(in), b.apply(in)));
        }

        /** An operator with three attributes. */
        public <A, B, C> Draft<O> attributes(
                Attribute<O, A> first, Attribute<O, B> second, Attribute<O, C> third, Makers.Of3<A, B, C, O> make) {
            Function<AttributeReader, A> a = add(first);
            Function<AttributeReader, B> b = add(second);
            Function<AttributeReader, C> c = add(third);
            return make(in -> make.apply(a.apply(in), b.apply(in), c.apply(in)));
        }

        /** An operator with four attributes. */
        public <A, B, C, D> Draft<O> attributes(
                Attribute<O, A> first,
                Attribute<O, B> second,
                Attribute<O, C> third,
                Attribute<O, D> fourth,
                Makers.Of4<A, B, C, D, O> make) {
            Function<AttributeReader, A> a = add(first);
            Function<AttributeReader, B> b = add(second);
            Function<AttributeReader, C> c = add(third);
            Function<AttributeReader, D> d = add(fourth);
            return make(in -> make.apply(a.apply(in), b.apply(in), c.apply(in), d.apply(in)));
        }

        /** An operator with five attributes. */
        public <A, B, C, D, E> Draft<O> attributes(
                Attribute<O, A> first,
                Attribute<O, B> second,
                Attribute<O, C> third,
                Attribute<O, D> fourth,
                Attribute<O, E> fifth,
                Makers.Of5<A, B, C, D, E, O> make) {
            Function<AttributeReader, A> a = add(first);
            Function<AttributeReader, B> b = add(second);
            Function<AttributeReader, C> c = add(third);
            Function<AttributeReader, D> d = add(fourth);
            Function<AttributeReader, E> e = add(fifth);
            return make(in -> make.apply(a.apply(in), b.apply(in), c.apply(in), d.apply(in), e.apply(in)));
        }

        /** An operator with six attributes. */
        public <A, B, C, D, E, F> Draft<O> attributes(
                Attribute<O, A> first,
                Attribute<O, B> second,
                Attribute<O, C> third,
                Attribute<O, D> fourth,
                Attribute<O, E> fifth,
                Attribute<O, F> sixth,
                Makers.Of6<A, B, C, D, E, F, O> make) {
            Function<AttributeReader, A> a = add(first);
            Function<AttributeReader, B> b = add(second);
            Function<AttributeReader, C> c = add(third);
            Function<AttributeReader, D> d = add(fourth);
            Function<AttributeReader, E> e = add(fifth);
            Function<AttributeReader, F> f = add(sixth);
            return make(in -> make.apply(a.apply(in), b.apply(in), c.apply(in), d.apply(in), e.apply(in), f.apply(in)));
        }

        /** Attributes whose text has several forms, which a rule of the reader knows. */
        public Draft<O> text(Function<O, Map<String, Object>> attributes) {
            written.add((op, all) -> all.putAll(attributes.apply(op)));
            return this;
        }

        /** Its traits; {@link Trait#TAKES_CLIP} alone unless stated. */
        public Draft<O> traits(Trait... all) {
            traits = Set.of(all);
            return this;
        }

        /** The element types of the first operand that Kiln compiles, if these are fewer than it accepts. */
        public Draft<O> compiles(DType... types) {
            compiled = Set.of(types);
            return this;
        }

        /** Its form in Relay text, for operands of some types. */
        public Draft<O> spelled(BiFunction<O, List<TensorType>, Spelling> form) {
            spelling = form;
            return this;
        }

        /** TVM has no operator that computes the same, even if one has its name. */
        public Draft<O> own() {
            return spelled((op, args) -> Spelling.own(op));
        }

        /** Conditions on attributes and constants beside those of each operand. */
        public Draft<O> rules(BiConsumer<O, Arguments> all) {
            rules = all;
            return this;
        }

        /** Ends the signature: the result's type, for arguments that satisfy everything above. */
        public Signature<O> result(BiFunction<O, List<TensorType>, TensorType> rule) {
            return new Signature<>(this, rule);
        }

        /** Ends the signature: the result has the type of the first argument. */
        public Signature<O> same() {
            return result((op, args) -> args.get(0));
        }

        /** Ends the signature: the result has the first argument's shape. */
        public Signature<O> to(DType dtype) {
            return to(op -> dtype);
        }

        /** Ends the signature: the result has the first argument's shape. */
        public Signature<O> to(Function<O, DType> dtype) {
            return result((op, args) -> new TensorType(args.get(0).shape(), dtype.apply(op)));
        }

        /** Ends the signature: the tensors broadcast to the result, which has an element type. */
        public Signature<O> broadcast(DType dtype) {
            return result((op, args) -> new TensorType(Check.broadcast(args.subList(0, op.operands())), dtype));
        }

        /** Ends the signature: the tensors broadcast to the result, which has the element type of one of them. */
        public Signature<O> broadcast(String of) {
            int position = Signature.position(name, operands, of);
            return result((op, args) -> new TensorType(
                    Check.broadcast(args.subList(0, op.operands())),
                    args.get(position).dtype()));
        }

        /** Ends the signature: nothing but what it writes. */
        public Signature<O> nothing() {
            return result((op, args) -> TensorType.UNIT);
        }
    }

    /** Functions of several values, such as the constructors of records. */
    public static final class Makers {
        private Makers() {}

        /** A function of three values. */
        @FunctionalInterface
        public interface Of3<A, B, C, R> {
            R apply(A first, B second, C third);
        }

        /** A function of four values. */
        @FunctionalInterface
        public interface Of4<A, B, C, D, R> {
            R apply(A first, B second, C third, D fourth);
        }

        /** A function of five values. */
        @FunctionalInterface
        public interface Of5<A, B, C, D, E, R> {
            R apply(A first, B second, C third, D fourth, E fifth);
        }

        /** A function of six values. */
        @FunctionalInterface
        public interface Of6<A, B, C, D, E, F, R> {
            R apply(A first, B second, C third, D fourth, E fifth, F sixth);
        }
    }
}
