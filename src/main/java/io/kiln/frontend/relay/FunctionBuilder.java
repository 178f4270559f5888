// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.relay;

import io.kiln.base.Bytes;
import io.kiln.ir.Arg;
import io.kiln.ir.Binding;
import io.kiln.ir.Constant;
import io.kiln.ir.Origin;
import io.kiln.ir.Variable;
import io.kiln.ir.op.Op;
import io.kiln.ir.text.Annotations;
import io.kiln.ir.text.Place;
import io.kiln.ir.text.RelayParser;
import io.kiln.ir.text.RelaySyntax.Call;
import io.kiln.ir.text.RelaySyntax.Expression;
import io.kiln.ir.text.RelaySyntax.Literal;
import io.kiln.ir.text.RelaySyntax.Local;
import io.kiln.ir.text.RelaySyntax.Meta;
import io.kiln.ir.text.RelaySyntax.Statement;
import io.kiln.ir.type.Shape;
import io.kiln.ir.type.TensorType;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/**
 * Looks up names and operators and puts nested calls one behind the other. A value that could not be made counts as unknown: what reads it is
 * checked no further, so that only causes are reported.
 */
final class FunctionBuilder {
    private static final String PRINT_WHOLE =
            "Print the model with its metadata section (in TVM: astext() with show_meta_data=True)";

    private final Findings findings;
    private final List<Constant> metadata;
    private final Map<String, Optional<Arg>> values = new HashMap<>();
    private final List<TensorType> types = new ArrayList<>();
    private final List<Binding> bindings = new ArrayList<>();
    private final List<Variable> variables = new ArrayList<>();
    private final Map<Integer, Place> places = new HashMap<>();
    private boolean metadataMissed;

    FunctionBuilder(List<Constant> metadata, Findings findings) {
        this.metadata = metadata;
        this.findings = findings;
    }

    /** Adds a parameter that is given at run time, and returns its id. */
    int input(String name, TensorType type, Place place) {
        Arg.Ref value = newValue(type, place);
        define(name, place, Optional.of(value));
        return value.id();
    }

    void define(String name, Place place, Optional<Arg> value) {
        if (values.putIfAbsent(name, value) != null) {
            findings.add(place, "%" + name + " is defined twice", "a name of its own for every value", "");
        }
    }

    void add(Statement statement) {
        if (statement.value() instanceof Call call && call.operator().equals("ref")) {
            define(statement.name(), statement.place(), variable(call));
            return;
        }
        define(statement.name(), statement.place(), value(statement.value(), statement.name()));
    }

    /**
     * The value of an expression.
     *
     * @param name what the value is called, for origins
     */
    Optional<Arg> value(Expression expression, String name) {
        if (expression instanceof Call call) {
            return call(call, name);
        }
        if (expression instanceof Local local) {
            return local(local);
        }
        if (expression instanceof Meta meta) {
            return meta(meta);
        }
        return Optional.of(literal((Literal) expression));
    }

    /** {@code ref(constant)}: a variable that begins with the constant and is called like it. */
    private Optional<Arg> variable(Call call) {
        Optional<Arg> initial = call.args().size() == 1 ? value(call.args().get(0), "") : Optional.empty();
        if (initial.isPresent() && initial.get() instanceof Constant constant) {
            Arg.Ref value = newValue(constant.type(), call.place());
            variables.add(new Variable(value.id(), constant.name(), constant.type(), constant.data()));
            return Optional.of(value);
        }
        findings.add(call.place(), "a ref has no first value", "one constant", "");
        return Optional.empty();
    }

    /** What {@code ref} made. */
    List<Variable> variables() {
        return variables;
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

    private Optional<Arg> local(Local local) {
        Optional<Arg> value = values.get(local.name());
        if (value == null) {
            findings.add(local.place(), "%" + local.name() + " is not defined", "a name defined above", "");
            return Optional.empty();
        }
        return value;
    }

    private Optional<Arg> meta(Meta meta) {
        if (meta.index() < metadata.size()) {
            Constant constant = metadata.get(meta.index());
            return Optional.of(new Constant(Annotations.name(meta.comment()), constant.type(), constant.data()));
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
                Annotations.name(literal.comment()), new TensorType(Shape.scalar(), literal.dtype()), Bytes.wrap(data));
    }

    private Optional<Arg> call(Call call, String name) {
        int before = findings.count();
        Optional<Op> op = operator(call);
        List<Arg> args = new ArrayList<>();
        for (Expression arg : call.args()) {
            value(arg, name).ifPresent(args::add);
        }
        if (op.isEmpty() || args.size() < call.args().size() || findings.count() > before) {
            return Optional.empty();
        }
        return emit(op.get(), args, call, name);
    }

    private Optional<Op> operator(Call call) {
        Optional<Function<Attributes, Op>> known = Operators.of(call.operator());
        if (known.isEmpty()) {
            findings.add(
                    call.place(),
                    "operator " + call.operator() + " is not supported",
                    "one of " + Operators.names(),
                    "Change the model so that it does without this operator");
            return Optional.empty();
        }
        Attributes attributes = new Attributes(call.operator(), call.place(), call.attributes(), findings);
        try {
            Op op = known.get().apply(attributes);
            attributes.refuseOthers();
            return Optional.of(op);
        } catch (IllegalArgumentException e) {
            findings.add(call.place(), call.operator() + ": " + e.getMessage(), "", "");
            return Optional.empty();
        }
    }

    private Optional<Arg> emit(Op op, List<Arg> args, Call call, String name) {
        try {
            TensorType type = op.infer(args.stream().map(this::type).toList());
            if (type.isLargerThan(RelayParser.MAX_TENSOR_BYTES)) {
                throw new IllegalArgumentException("the result " + type.text() + " is too large");
            }
            Origin origin = Annotations.origin(call.comment())
                    .orElseGet(() -> new Origin(findings.file(), bindings.size(), op.name(), name));
            Arg.Ref value = newValue(type, call.place());
            bindings.add(new Binding(value.id(), op, args, type, origin));
            return Optional.of(value);
        } catch (IllegalArgumentException | ArithmeticException e) {
            findings.add(call.place(), call.operator() + ": " + e.getMessage(), "arguments that fit", "");
            return Optional.empty();
        }
    }

    private Arg.Ref newValue(TensorType type, Place place) {
        types.add(type);
        places.put(types.size() - 1, place);
        return new Arg.Ref(types.size() - 1);
    }
}
