// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.relay.build;

import io.kiln.frontend.relay.rule.Rules;
import io.kiln.frontend.relay.value.Attributes;
import io.kiln.frontend.relay.value.CallSite;
import io.kiln.frontend.relay.value.Findings;
import io.kiln.frontend.relay.value.Rule;
import io.kiln.frontend.relay.value.Value;
import io.kiln.ir.Arg;
import io.kiln.ir.Constant;
import io.kiln.ir.GraphBuilder;
import io.kiln.ir.Quantization;
import io.kiln.ir.op.call.FunctionRef;
import io.kiln.ir.text.Annotations;
import io.kiln.ir.text.Place;
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
import io.kiln.ir.type.TensorType;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Resolves names and operators and flattens nested calls. A value that could not be read is unknown: operators that
 * read it are not checked, so that only causes are reported.
 */
public final class FunctionBuilder {
    private final Findings findings;
    private final CalledFunctions functions;
    private final LiteralReader literals;
    private final Map<String, Integer> calledNames = new HashMap<>();
    private final Map<String, Optional<Value>> values = new HashMap<>();
    private final Tuples tuples;
    private final Bindings bindings;

    public FunctionBuilder(CalledFunctions functions, Findings findings) {
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

    /** The operators so far. */
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
        int before = findings.count();
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
        if (rule.isEmpty() || !areRead || findings.count() > before) {
            return Optional.empty();
        }
        List<Attribute> unboxed = literals.unboxed(call.attributes());
        List<Attribute> resolved =
                unboxed.stream().flatMap(a -> resolved(a).stream()).toList();
        if (findings.count() > before || resolved.size() < unboxed.size()) {
            return Optional.empty();
        }
        Attributes attributes = new Attributes(call.operator(), call.place(), resolved, findings);
        try {
            Value value = rule.get().apply(new TextCall(bindings, call, name, attributes, args));
            attributes.refuseOthers();
            return findings.count() > before ? Optional.empty() : Optional.of(value);
        } catch (IllegalArgumentException | ArithmeticException e) {
            if (findings.count() == before) {
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
}
