// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.relay;

import io.kiln.base.Bytes;
import io.kiln.ir.Arg;
import io.kiln.ir.Binding;
import io.kiln.ir.Constant;
import io.kiln.ir.Function;
import io.kiln.ir.Origin;
import io.kiln.ir.Variable;
import io.kiln.ir.op.Copy;
import io.kiln.ir.op.FunctionRef;
import io.kiln.ir.op.Op;
import io.kiln.ir.text.Annotations;
import io.kiln.ir.text.Place;
import io.kiln.ir.text.RelayParser;
import io.kiln.ir.text.RelaySyntax.Attribute;
import io.kiln.ir.text.RelaySyntax.Call;
import io.kiln.ir.text.RelaySyntax.Expression;
import io.kiln.ir.text.RelaySyntax.Global;
import io.kiln.ir.text.RelaySyntax.Literal;
import io.kiln.ir.text.RelaySyntax.Local;
import io.kiln.ir.text.RelaySyntax.Meta;
import io.kiln.ir.text.RelaySyntax.Projection;
import io.kiln.ir.text.RelaySyntax.Statement;
import io.kiln.ir.text.RelaySyntax.Tuple;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import io.kiln.reference.Interpreter;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Looks up names and operators and puts nested calls one behind the other. A value that could not be made counts as unknown: what reads it is
 * checked no further, so that only causes are reported.
 */
final class FunctionBuilder {
    private static final String PRINT_WHOLE =
            "Print the model with its metadata section (in TVM: astext() with show_meta_data=True)";

    private final Findings findings;
    private final Functions functions;
    private final List<Constant> metadata;
    private final List<Function> called = new ArrayList<>();
    private final Map<String, Integer> calledNames = new HashMap<>();
    private final Map<String, Optional<Value>> values = new HashMap<>();
    private final Map<String, List<Optional<Value>>> tuples = new HashMap<>();
    private final Map<Integer, Binding> producers = new HashMap<>();
    private final List<TensorType> types = new ArrayList<>();
    private final List<Binding> bindings = new ArrayList<>();
    private final List<Variable> variables = new ArrayList<>();
    private final Map<Integer, Place> places = new HashMap<>();
    private final Set<Integer> superseded = new HashSet<>();
    private boolean metadataMissed;

    FunctionBuilder(Functions functions, Findings findings) {
        this.functions = functions;
        this.metadata = functions.constants();
        this.findings = findings;
    }

    /** Adds a parameter that is given at run time, and returns its id. */
    int input(String name, TensorType type, Place place) {
        Arg.Ref value = newValue(type, place);
        define(name, place, Optional.of(Value.plain(value, type)));
        return value.id();
    }

    void define(String name, Place place, Optional<Value> value) {
        if (values.putIfAbsent(name, value) != null) {
            findings.add(place, "%" + name + " is defined twice", "a name of its own for every value", "");
        }
    }

    void add(Statement statement) {
        if (statement.value() instanceof Call call && call.operator().equals("ref")) {
            define(statement.name(), statement.place(), variable(call, statement.name()));
            return;
        }
        if (isTuple(statement.value())) {
            tuples.put(statement.name(), values(statement.value(), statement.name()));
            return;
        }
        define(statement.name(), statement.place(), value(statement.value(), statement.name()));
    }

    /** Whether an expression stands for several values. */
    boolean isTuple(Expression expression) {
        return expression instanceof Tuple
                || (expression instanceof Local local && tuples.containsKey(local.name()))
                || (expression instanceof Call call && call.operator().equals(Split.NAME));
    }

    /** The elements of a tuple; anything else is its only element. */
    List<Optional<Value>> values(Expression expression, String name) {
        if (expression instanceof Tuple tuple) {
            return tuple.elements().stream().map(e -> value(e, name)).toList();
        }
        if (expression instanceof Local local && tuples.containsKey(local.name())) {
            return tuples.get(local.name());
        }
        if (expression instanceof Call call && call.operator().equals(Split.NAME)) {
            return split(call, name);
        }
        return List.of(value(expression, name));
    }

    private List<Optional<Value>> split(Call call, String name) {
        int before = findings.count();
        List<Optional<Value>> data =
                call.args().stream().map(arg -> value(arg, name)).toList();
        Attributes attributes = new Attributes(call.operator(), call.place(), call.attributes(), findings);
        if (data.stream().allMatch(Optional::isPresent)) {
            try {
                Site site = new Site(
                        call, name, attributes, data.stream().map(Optional::get).toList());
                List<Value> parts = Split.parts(site);
                attributes.refuseOthers();
                return parts.stream().map(Optional::of).toList();
            } catch (IllegalArgumentException e) {
                if (findings.count() == before) {
                    findings.add(call.place(), call.operator() + ": " + e.getMessage(), "arguments that fit", "");
                }
            }
        }
        return List.of();
    }

    private Optional<Value> projection(Projection projection, String name) {
        int before = findings.count();
        List<Optional<Value>> elements = values(projection.tuple(), name);
        if (projection.index() < elements.size() && isTuple(projection.tuple())) {
            return elements.get(projection.index());
        }
        if (findings.count() == before && !elements.isEmpty()) {
            findings.add(
                    projection.place(),
                    "there is no element " + projection.index() + " of it",
                    isTuple(projection.tuple()) ? "an index below " + elements.size() : "a tuple",
                    "");
        }
        return Optional.empty();
    }

    /**
     * The value of an expression.
     *
     * @param name what the value is called, for origins
     */
    private Optional<Value> value(Expression expression, String name) {
        if (expression instanceof Call call) {
            return call(call, name);
        }
        if (expression instanceof Local local) {
            return local(local);
        }
        if (expression instanceof Meta meta) {
            return meta(meta);
        }
        if (expression instanceof Projection projection) {
            return projection(projection, name);
        }
        if (expression instanceof Tuple tuple) {
            findings.add(tuple.place(), "a tuple is not supported here", "tensors", "");
            return Optional.empty();
        }
        return Optional.of(constant(literal((Literal) expression)));
    }

    /** What a result holds, which must be as the text has it. */
    Optional<Arg> result(Expression expression, String name) {
        return result(value(expression, name), expression, name);
    }

    /** As the other of a value that was read before. */
    Optional<Arg> result(Optional<Value> value, Expression expression, String name) {
        if (value.isEmpty() || value.get().isPlain()) {
            return value.map(Value::arg);
        }
        Call copy = new Call("result", List.of(), List.of(), expression.place(), "");
        Attributes none = new Attributes("result", expression.place(), List.of(), findings);
        try {
            return Optional.of(new Site(copy, name, none, List.of(value.get())).plain(0));
        } catch (IllegalArgumentException e) {
            findings.add(expression.place(), "the result: " + e.getMessage(), "", "");
            return Optional.empty();
        }
    }

    private static Value constant(Constant constant) {
        return Value.plain(constant, constant.type());
    }

    /** {@code ref(constant)}: a variable that begins with the constant and is called like it, or as in the text. */
    private Optional<Value> variable(Call call, String otherwise) {
        Optional<Value> initial = call.args().size() == 1 ? value(call.args().get(0), "") : Optional.empty();
        if (initial.isPresent() && initial.get().isPlain() && initial.get().arg() instanceof Constant constant) {
            Arg.Ref value = newValue(constant.type(), call.place());
            String name = constant.name().isEmpty() ? otherwise : constant.name();
            variables.add(new Variable(value.id(), name, constant.type(), constant.data()));
            return Optional.of(Value.plain(value, constant.type()));
        }
        findings.add(call.place(), "a ref has no first value", "one constant", "");
        return Optional.empty();
    }

    /** What {@code ref} made. */
    List<Variable> variables() {
        return variables;
    }

    /** Ids of what one operator took the place of. */
    Set<Integer> superseded() {
        return superseded;
    }

    /** What its operators call, in the order of their calls. */
    List<Function> functions() {
        return called;
    }

    List<Binding> bindings() {
        return bindings;
    }

    TensorType type(Arg arg) {
        return arg instanceof Constant constant ? constant.type() : types.get(((Arg.Ref) arg).id());
    }

    /** Where values were defined, by id. */
    Map<Integer, Place> places() {
        return places;
    }

    private Optional<Value> local(Local local) {
        Optional<Value> value = values.get(local.name());
        if (value == null && tuples.containsKey(local.name())) {
            findings.add(local.place(), "%" + local.name() + " is a tuple", "a tensor, such as one of its elements", "");
            return Optional.empty();
        }
        int point = local.name().lastIndexOf('.');
        if (value == null && point > 0 && tuples.containsKey(local.name().substring(0, point))) {
            return element(local, point);
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

    /** {@code %name.0}, where the name is a tuple's. */
    private Optional<Value> element(Local local, int point) {
        String index = local.name().substring(point + 1);
        Local tuple = new Local(local.name().substring(0, point), local.place(), local.comment());
        return index.matches("[0-9]{1,9}")
                ? projection(new Projection(tuple, Integer.parseInt(index), local.place(), local.comment()), "")
                : Optional.empty();
    }

    private Optional<Value> meta(Meta meta) {
        if (meta.index() < metadata.size()) {
            Constant constant = metadata.get(meta.index());
            return Optional.of(
                    constant(new Constant(Annotations.name(meta.comment()).orElse(""), constant.type(), constant.data())));
        }
        if (!metadata.isEmpty()) {
            String holds = "an index below " + metadata.size();
            findings.add(
                    meta.place(),
                    "there is no constant " + meta.index() + " in the metadata section",
                    holds,
                    PRINT_WHOLE);
        } else if (!metadataMissed) {
            metadataMissed = true;
            findings.add(meta.place(), "the data of the constants is missing", "a metadata section", PRINT_WHOLE);
        }
        return Optional.empty();
    }

    private static Constant literal(Literal literal) {
        ByteBuffer bytes = ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN);
        if (literal.dtype().isFloat()) {
            bytes.putFloat(literal.value().floatValue());
        } else {
            bytes.putLong(literal.value().longValue());
        }
        byte[] data = Arrays.copyOf(bytes.array(), literal.dtype().bytes());
        return new Constant(
                Annotations.name(literal.comment()).orElse(""), new TensorType(Shape.scalar(), literal.dtype()), Bytes.wrap(data));
    }

    private Optional<Value> call(Call call, String name) {
        int before = findings.count();
        Optional<Rule> rule = Rules.of(call.operator());
        if (rule.isEmpty()) {
            findings.add(
                    call.place(),
                    "operator " + call.operator() + " is not supported",
                    "one of " + Rules.names(),
                    "Change the model so that it does without this operator");
        }
        List<Value> args = new ArrayList<>();
        boolean areRead = true;
        for (Expression arg : call.args()) {
            List<Optional<Value>> values = values(arg, name);
            areRead &= !values.isEmpty() && values.stream().allMatch(Optional::isPresent);
            values.forEach(value -> value.ifPresent(args::add));
        }
        if (rule.isEmpty() || !areRead || findings.count() > before) {
            return Optional.empty();
        }
        List<Attribute> resolved =
                call.attributes().stream().flatMap(a -> resolved(a).stream()).toList();
        if (resolved.size() < call.attributes().size()) {
            return Optional.empty();
        }
        Attributes attributes = new Attributes(call.operator(), call.place(), resolved, findings);
        try {
            Value value = rule.get().apply(new Site(call, name, attributes, args));
            attributes.refuseOthers();
            return findings.count() > before ? Optional.empty() : Optional.of(value);
        } catch (IllegalArgumentException | ArithmeticException e) {
            if (findings.count() == before) {
                findings.add(call.place(), call.operator() + ": " + e.getMessage(), "arguments that fit", "");
            }
            return Optional.empty();
        }
    }

    /** With a function's name replaced by its place among those that are called; empty if that could not be read. */
    private Optional<Attribute> resolved(Attribute attribute) {
        if (!(attribute.value() instanceof Global global)) {
            return Optional.of(attribute);
        }
        if (!calledNames.containsKey(global.name())) {
            functions.called(global.name(), global.place()).ifPresent(function -> {
                calledNames.put(global.name(), called.size());
                called.add(function);
            });
        }
        return Optional.ofNullable(calledNames.get(global.name()))
                .map(index -> new Attribute(attribute.name(), new FunctionRef(index), attribute.place()));
    }

    private Arg emit(Call call, String name, Op op, List<? extends Arg> args) {
        TensorType type = op.infer(args.stream().map(this::type).toList());
        if (type.isLargerThan(RelayParser.MAX_TENSOR_BYTES)) {
            throw new IllegalArgumentException("the result " + type.text() + " is too large");
        }
        boolean isOwn = Annotations.origin(call.comment()).isPresent();
        boolean folds = !isOwn && !(op instanceof Copy) && !op.isOpaque() && op.writes().isEmpty();
        if (folds && !args.isEmpty() && args.stream().allMatch(Constant.class::isInstance)) {
            return Interpreter.fold(op, args.stream().map(Constant.class::cast).toList(), type);
        }
        Origin origin = Annotations.origin(call.comment())
                .orElseGet(() -> new Origin(findings.file(), bindings.size(), op.name(), name));
        Arg.Ref value = newValue(type, call.place());
        Binding binding = new Binding(value.id(), op, List.copyOf(args), type, origin);
        bindings.add(binding);
        producers.put(value.id(), binding);
        return value;
    }

    /** A call of the text, for its rule. */
    private final class Site implements CallSite {
        private final Call call;
        private final String name;
        private final Attributes attributes;
        private final List<Value> args;

        Site(Call call, String name, Attributes attributes, List<Value> args) {
            this.call = call;
            this.name = name;
            this.attributes = attributes;
            this.args = List.copyOf(args);
        }

        @Override
        public Attributes attributes() {
            return attributes;
        }

        @Override
        public List<Value> args() {
            return args;
        }

        @Override
        public boolean isOwn() {
            return Annotations.origin(call.comment()).isPresent();
        }

        @Override
        public Arg emit(Op op, List<? extends Arg> operands) {
            return FunctionBuilder.this.emit(call, name, op, operands);
        }

        @Override
        public TensorType type(Arg arg) {
            return FunctionBuilder.this.type(arg);
        }

        @Override
        public void supersede(Arg arg) {
            if (arg instanceof Arg.Ref ref) {
                superseded.add(ref.id());
            }
        }

        @Override
        public Optional<Binding> producer(Arg arg) {
            return arg instanceof Arg.Ref ref ? Optional.ofNullable(producers.get(ref.id())) : Optional.empty();
        }
    }

    private Arg.Ref newValue(TensorType type, Place place) {
        types.add(type);
        places.put(types.size() - 1, place);
        return new Arg.Ref(types.size() - 1);
    }
}
