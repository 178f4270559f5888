// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.relay.build;

import io.kiln.frontend.GraphProblems;
import io.kiln.frontend.relay.rule.Rules;
import io.kiln.frontend.relay.rule.Split;
import io.kiln.frontend.relay.value.Attributes;
import io.kiln.frontend.relay.value.CallSite;
import io.kiln.frontend.relay.value.CallSite.Rule;
import io.kiln.frontend.relay.value.Value;
import io.kiln.ir.Arg;
import io.kiln.ir.Binding;
import io.kiln.ir.Constant;
import io.kiln.ir.Function;
import io.kiln.ir.GraphBuilder;
import io.kiln.ir.Quantization;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.call.ControlFlow.FunctionRef;
import io.kiln.ir.text.Place;
import io.kiln.ir.text.RelaySyntax;
import io.kiln.ir.text.RelaySyntax.Annotations;
import io.kiln.ir.text.RelaySyntax.Attribute;
import io.kiln.ir.text.RelaySyntax.Boxed;
import io.kiln.ir.text.RelaySyntax.Call;
import io.kiln.ir.text.RelaySyntax.Expression;
import io.kiln.ir.text.RelaySyntax.Global;
import io.kiln.ir.text.RelaySyntax.Literal;
import io.kiln.ir.text.RelaySyntax.Local;
import io.kiln.ir.text.RelaySyntax.Meta;
import io.kiln.ir.text.RelaySyntax.Metadata;
import io.kiln.ir.text.RelaySyntax.Projection;
import io.kiln.ir.text.RelaySyntax.Statement;
import io.kiln.ir.text.RelaySyntax.Tuple;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import io.kiln.reference.ConstantFolder;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiFunction;

/**
 * Resolves names and operators and flattens nested calls. A value that could not be read is unknown: operators that
 * read it are not checked, so that only causes are reported.
 */
public final class FunctionBuilder {
    private final GraphProblems findings;
    private final CalledFunctions functions;
    private final LiteralReader literals;
    private final Map<String, Integer> calledNames = new HashMap<>();
    private final Map<String, Optional<Value>> values = new HashMap<>();
    private final Tuples tuples;
    private final Bindings bindings;

    public FunctionBuilder(CalledFunctions functions, GraphProblems findings) {
        this.functions = functions;
        this.findings = findings;
        this.bindings = new Bindings(findings.file(), new GraphBuilder(functions.folder()));
        this.literals = new LiteralReader(functions.metadata(), findings);
        this.tuples = new Tuples(this::value, this::split, literals, findings);
    }

    /**
     * Adds a parameter that is given at run time.
     *
     * @param name its name in the text
     * @param input the input that it becomes
     */
    public void input(String name, Place place, String input, TensorType type, Optional<Quantization> quantization) {
        Arg.Ref value = bindings.at(place, bindings.graph().parameter(input, type, quantization));
        define(name, place, Optional.of(Value.plain(value, type)));
    }

    public void define(String name, Place place, Optional<Value> value) {
        if (values.putIfAbsent(name, value) != null) {
            findings.add(place, "%" + name + " is defined twice", "a different name for every value", "");
        }
    }

    public void add(Statement statement) {
        if (statement.value() instanceof Call call && call.operator().equals("ref")) {
            define(statement.name(), statement.place(), variable(call, statement.name()));
            return;
        }
        if (isTuple(statement.value())) {
            tuples.define(statement.name(), values(statement.value(), statement.name()));
            return;
        }
        define(statement.name(), statement.place(), value(statement.value(), statement.name()));
    }

    /** Whether an expression has several values. */
    public boolean isTuple(Expression expression) {
        return tuples.isTuple(expression);
    }

    /** The elements of a tuple; anything else is its only element. */
    public List<Optional<Value>> values(Expression expression, String name) {
        return tuples.values(expression, name);
    }

    private CallSite split(Call call, List<Value> args, String name, Attributes attributes) {
        return new TextCall(bindings, call, name, attributes, args);
    }

    /**
     * The value of an expression.
     *
     * @param name the value's name, for origins
     */
    private Optional<Value> value(Expression expression, String name) {
        if (expression instanceof Call call) {
            return call(call, name);
        }
        if (expression instanceof Local local) {
            return local(local);
        }
        if (expression instanceof Meta meta) {
            return literals.meta(meta).map(FunctionBuilder::constant);
        }
        if (expression instanceof Projection projection) {
            return tuples.projection(projection, name);
        }
        if (expression instanceof Tuple tuple) {
            findings.add(tuple.place(), "a tuple is not supported here", "tensors", "");
            return Optional.empty();
        }
        return Optional.of(constant(LiteralReader.literal((Literal) expression)));
    }

    /** The value of a result, in the layout and type stated in the text. */
    public Optional<Arg> result(Expression expression, String name) {
        return result(value(expression, name), expression, name);
    }

    /** As above, for a value that was already read. */
    public Optional<Arg> result(Optional<Value> value, Expression expression, String name) {
        if (value.isEmpty() || value.get().isPlain()) {
            return value.map(Value::arg);
        }
        Call copy = new Call("result", List.of(), List.of(), expression.place(), "");
        Attributes none = new Attributes("result", expression.place(), List.of(), findings);
        try {
            return Optional.of(new TextCall(bindings, copy, name, none, List.of(value.get())).plain(0));
        } catch (IllegalArgumentException e) {
            findings.add(expression.place(), "the result: " + e.getMessage(), "", "");
            return Optional.empty();
        }
    }

    private static Value constant(Constant constant) {
        return Value.plain(constant, constant.type());
    }

    /**
     * {@code ref(constant)}: a variable with the constant as initial value, named like the constant, or as in the text.
     */
    private Optional<Value> variable(Call call, String otherwise) {
        Optional<Value> initial = call.args().size() == 1 ? value(call.args().get(0), "") : Optional.empty();
        if (initial.isPresent() && initial.get().isPlain() && initial.get().arg() instanceof Constant constant) {
            String name = constant.name().isEmpty() ? otherwise : constant.name();
            Arg.Ref value =
                    bindings.at(call.place(), bindings.graph().variable(name, constant.type(), constant.data()));
            return Optional.of(Value.plain(value, constant.type()));
        }
        findings.add(call.place(), "a ref has no initial value", "one constant", "");
        return Optional.empty();
    }

    public Bindings bindings() {
        return bindings;
    }

    private Optional<Value> local(Local local) {
        Optional<Value> value = values.get(local.name());
        if (value == null && tuples.knows(local)) {
            return tuples.local(local);
        }
        if (value == null) {
            findings.add(local.place(), "%" + local.name() + " is not defined", "a name defined above", "");
            return Optional.empty();
        }
        Optional<String> name = Annotations.name(local.comment());
        return value.map(v -> name.isPresent() && v.arg() instanceof Constant c && v.isPlain()
                ? Value.plain(new Constant(name.get(), c.type(), c.data()), v.type())
                : v);
    }

    private Optional<Value> call(Call call, String name) {
        int before = findings.found();
        Optional<Rule> rule = Rules.of(call.operator());
        if (rule.isEmpty()) {
            findings.add(
                    call.place(),
                    "operator " + call.operator() + " is not supported",
                    "one of " + String.join(", ", Rules.names()),
                    Rules.advice(call.operator()));
        }
        List<Value> args = new ArrayList<>();
        boolean areRead = true;
        for (Expression arg : call.args()) {
            List<Optional<Value>> values = values(arg, name);
            areRead &= !values.isEmpty() && values.stream().allMatch(Optional::isPresent);
            values.forEach(value -> value.ifPresent(args::add));
        }
        if (rule.isEmpty() || !areRead || findings.found() > before) {
            return Optional.empty();
        }
        List<Attribute> unboxed = literals.unboxed(call.attributes());
        List<Attribute> resolved =
                unboxed.stream().flatMap(a -> resolved(a).stream()).toList();
        if (findings.found() > before || resolved.size() < unboxed.size()) {
            return Optional.empty();
        }
        Attributes attributes = new Attributes(call.operator(), call.place(), resolved, findings);
        try {
            Value value = rule.get().apply(new TextCall(bindings, call, name, attributes, args));
            attributes.refuseOthers();
            return findings.found() > before ? Optional.empty() : Optional.of(value);
        } catch (IllegalArgumentException | ArithmeticException e) {
            if (findings.found() == before) {
                findings.add(call.place(), call.operator() + ": " + e.getMessage(), "arguments that fit", "");
            }
            return Optional.empty();
        }
    }

    /**
     * The attribute with a function's name replaced by its index among the called functions; empty if the function
     * could not be read.
     */
    private Optional<Attribute> resolved(Attribute attribute) {
        if (!(attribute.value() instanceof Global global)) {
            return Optional.of(attribute);
        }
        if (!calledNames.containsKey(global.name())) {
            functions
                    .called(global.name(), global.place())
                    .ifPresent(function ->
                            calledNames.put(global.name(), bindings.graph().function(function)));
        }
        return Optional.ofNullable(calledNames.get(global.name()))
                .map(index -> new Attribute(attribute.name(), new FunctionRef(index), attribute.place()));
    }

    /**
     * A call in the text with its arguments read.
     *
     * @param bindings gets the operators made by its rule
     * @param name the result's name, for origins
     */
    private record TextCall(Bindings bindings, Call call, String name, Attributes attributes, List<Value> args)
            implements CallSite {
        TextCall {
            args = List.copyOf(args);
        }

        @Override
        public boolean isOwn() {
            return Annotations.origin(call.comment()).isPresent();
        }

        @Override
        public Arg emit(Op op, List<? extends Arg> operands) {
            return bindings.emit(call, name, op, operands);
        }

        @Override
        public Constant moved(Op op, Constant constant) {
            Constant moved = bindings.moved(call, op, constant);
            return new Constant(constant.name(), moved.type(), moved.data());
        }

        @Override
        public TensorType type(Arg arg) {
            return bindings.graph().type(arg);
        }

        @Override
        public Optional<Binding> producer(Arg arg) {
            return bindings.graph().producer(arg);
        }

        @Override
        public void supersede(Arg arg) {
            bindings.supersede(arg);
        }
    }

    /** Tuples of the text, by name, and the results of {@code split}. The IR has only single values. */
    private static final class Tuples {
        /** Makes the call site that a rule reads. */
        interface Sites {
            CallSite of(Call call, List<Value> args, String name, Attributes attributes);
        }

        private final BiFunction<Expression, String, Optional<Value>> single;
        private final Sites sites;
        private final LiteralReader literals;
        private final GraphProblems findings;
        private final Map<String, List<Optional<Value>>> byName = new HashMap<>();

        /**
         * @param single reads an expression with one value, given its name
         * @param literals reads numbers of attributes
         */
        Tuples(
                BiFunction<Expression, String, Optional<Value>> single,
                Sites sites,
                LiteralReader literals,
                GraphProblems findings) {
            this.single = single;
            this.sites = sites;
            this.literals = literals;
            this.findings = findings;
        }

        void define(String name, List<Optional<Value>> elements) {
            byName.put(name, elements);
        }

        boolean isTuple(Expression expression) {
            return expression instanceof Tuple
                    || (expression instanceof Local local && byName.containsKey(local.name()))
                    || (expression instanceof Call call && call.operator().equals(Split.NAME));
        }

        /** The elements of a tuple; anything else is its only element. */
        List<Optional<Value>> values(Expression expression, String name) {
            if (expression instanceof Tuple tuple) {
                return tuple.elements().stream().map(e -> single.apply(e, name)).toList();
            }
            if (expression instanceof Local local && byName.containsKey(local.name())) {
                return byName.get(local.name());
            }
            if (expression instanceof Call call && call.operator().equals(Split.NAME)) {
                return split(call, name);
            }
            return List.of(single.apply(expression, name));
        }

        private List<Optional<Value>> split(Call call, String name) {
            int before = findings.found();
            List<Optional<Value>> data =
                    call.args().stream().map(arg -> single.apply(arg, name)).toList();
            List<Attribute> unboxed = literals.unboxed(call.attributes());
            Attributes attributes = new Attributes(call.operator(), call.place(), unboxed, findings);
            if (findings.found() > before || !data.stream().allMatch(Optional::isPresent)) {
                return List.of();
            }
            try {
                List<Value> args = data.stream().map(Optional::get).toList();
                List<Value> parts = Split.parts(sites.of(call, args, name, attributes));
                attributes.refuseOthers();
                return parts.stream().map(Optional::of).toList();
            } catch (IllegalArgumentException e) {
                if (findings.found() == before) {
                    findings.add(call.place(), call.operator() + ": " + e.getMessage(), "arguments that fit", "");
                }
                return List.of();
            }
        }

        /** {@code tuple.index}. */
        Optional<Value> projection(Projection projection, String name) {
            int before = findings.found();
            boolean isTuple = isTuple(projection.tuple());
            List<Optional<Value>> elements = values(projection.tuple(), name);
            if (projection.index() < elements.size() && isTuple) {
                return elements.get(projection.index());
            }
            if (findings.found() == before && !elements.isEmpty()) {
                findings.add(
                        projection.place(),
                        "there is no element " + projection.index() + " of it",
                        isTuple ? "an index below " + elements.size() : "a tuple",
                        "");
            }
            return Optional.empty();
        }

        /** Whether a name is a tuple's, or {@code %name.0} of one. */
        boolean knows(Local local) {
            return byName.containsKey(local.name()) || byName.containsKey(stem(local));
        }

        /** The element of this name; a tuple itself is not supported where one value is needed. */
        Optional<Value> local(Local local) {
            String index = local.name()
                    .substring(Math.min(local.name().length(), stem(local).length() + 1));
            if (byName.containsKey(local.name()) || !index.matches("[0-9]{1,9}")) {
                findings.add(
                        local.place(), "%" + local.name() + " is a tuple", "a tensor, such as one of its elements", "");
                return Optional.empty();
            }
            Local tuple = new Local(stem(local), local.place(), local.comment());
            return projection(new Projection(tuple, Integer.parseInt(index), local.place(), local.comment()), "");
        }

        private static String stem(Local local) {
            int point = local.name().lastIndexOf('.');
            return point < 0 ? local.name() : local.name().substring(0, point);
        }
    }

    /** The constants in the text or in its metadata section. */
    private static final class LiteralReader {
        private static final String PRINT_WHOLE =
                "Print the model with its metadata section (in TVM: astext() with show_meta_data=True)";

        private final Metadata metadata;
        private final GraphProblems findings;
        private boolean metadataMissed;

        LiteralReader(Metadata metadata, GraphProblems findings) {
            this.metadata = metadata;
            this.findings = findings;
        }

        /** {@code meta[relay.Constant][n]}; a missing section is reported once. */
        Optional<Constant> meta(Meta meta) {
            return find(metadata.constants(), meta.index(), meta.place(), "constant")
                    .map(constant -> new Constant(
                            Annotations.name(meta.comment()).orElse(""), constant.type(), constant.data()));
        }

        /** The attributes with the values of the metadata section in place of {@code meta[runtime.BoxInt][n]}; those that are not there are reported. */
        List<Attribute> unboxed(List<Attribute> attributes) {
            List<Attribute> unboxed = new ArrayList<>();
            for (Attribute attribute : attributes) {
                Optional<Object> value = unboxed(attribute.value());
                if (attribute.name().equals(RelaySyntax.DICTIONARY) && value.orElse("") instanceof Map<?, ?> all) {
                    all.forEach((name, each) -> unboxed.add(new Attribute((String) name, each, attribute.place())));
                } else {
                    value.ifPresent(found -> unboxed.add(new Attribute(attribute.name(), found, attribute.place())));
                }
            }
            return unboxed;
        }

        private Optional<Object> unboxed(Object value) {
            if (value instanceof Boxed boxed) {
                List<Object> values = metadata.boxes().getOrDefault(boxed.kind(), List.of());
                return find(values, boxed.index(), boxed.place(), boxed.kind());
            }
            if (value instanceof List<?> list) {
                List<Object> items =
                        list.stream().flatMap(item -> unboxed(item).stream()).toList();
                return Optional.<Object>of(items).filter(all -> items.size() == list.size());
            }
            return Optional.of(value);
        }

        private <T> Optional<T> find(List<? extends T> values, int index, Place place, String what) {
            if (index < values.size()) {
                return Optional.of(values.get(index));
            }
            if (!values.isEmpty()) {
                findings.add(
                        place,
                        "there is no " + what + " " + index + " in the metadata section",
                        "an index below " + values.size(),
                        PRINT_WHOLE);
            } else if (!metadataMissed) {
                metadataMissed = true;
                findings.add(place, "the data of the " + what + "s is missing", "a metadata section", PRINT_WHOLE);
            }
            return Optional.empty();
        }

        /** A number or boolean. */
        static Constant literal(Literal literal) {
            String name = Annotations.name(literal.comment()).orElse("");
            return literal.dtype().isFloat()
                    ? Constant.reals(name, Shape.scalar(), i -> literal.value().floatValue())
                    : Constant.integers(
                            name,
                            new TensorType(Shape.scalar(), literal.dtype()),
                            i -> literal.value().longValue());
        }
    }

    /** Things outside a function's definition to which it can refer. */
    public interface CalledFunctions {
        /** What the metadata section holds. */
        Metadata metadata();

        /** Computes constants of all functions of the text. */
        ConstantFolder folder();

        /**
         * A function that an operator calls; empty if it could not be read, which has been reported.
         *
         * @param place place of the call
         */
        Optional<Function> called(String name, Place place);
    }
}
