// SPDX-License-Identifier: Apache-2.0
package io.kiln.frontend.onnx.operator;

import io.kiln.base.KilnException;
import io.kiln.frontend.Formulas;
import io.kiln.ir.Arg;
import io.kiln.ir.Function;
import io.kiln.ir.GraphBuilder;
import io.kiln.ir.Result;
import io.kiln.ir.op.Op;
import io.kiln.ir.op.call.ControlFlow.While;
import io.kiln.ir.op.call.Variables.RefWrite;
import io.kiln.ir.type.TensorType;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** A loop that an importer writes with formulas. How often it runs depends on the data. */
public final class Repetition {
    private final NodeContext node;
    private final List<TensorType> types;

    private Repetition(NodeContext node, List<TensorType> types) {
        this.node = node;
        this.types = types;
    }

    /** Formulas of what a loop carries. */
    public interface Step {
        /**
         * The results.
         *
         * @param carried the loop's values before the step
         */
        List<Arg> of(Formulas e, List<Arg> carried);
    }

    /**
     * Repeats a step.
     *
     * @param initial what the loop begins with
     * @param condition whether to continue: one bool
     * @param body the values after a step, of the same types
     * @return the values after the last step
     */
    public static List<Arg> emit(NodeContext node, List<Arg> initial, Step condition, Step body) {
        Repetition loop = new Repetition(node, initial.stream().map(node::type).toList());
        GraphBuilder graph = node.graph();
        Function asks = loop.function("condition", condition);
        Function step = loop.function("step", body);
        List<Arg> carried = new ArrayList<>();
        for (Arg value : initial) {
            Arg variable = graph.variable("loop" + graph.variables().size(), node.type(value));
            node.emit(new RefWrite(), variable, value);
            carried.add(variable);
        }
        node.emit(
                new While(graph.function(asks), graph.function(step), carried.size(), List.of(), List.of()),
                carried.toArray(Arg[]::new));
        return carried;
    }

    private Function function(String name, Step step) {
        GraphBuilder own = node.graph().called();
        List<Arg> carried = new ArrayList<>();
        types.forEach(type -> carried.add(own.parameter("x" + carried.size(), type, Optional.empty())));
        List<Result> results = new ArrayList<>();
        for (Arg result : step.of(new Site(own), carried)) {
            results.add(new Result(own.own(result, node.origin()).id(), "y" + results.size(), Optional.empty()));
        }
        return own.build(name, results);
    }

    /** Appends to a function of the loop. */
    private final class Site implements Formulas {
        private final GraphBuilder own;

        private Site(GraphBuilder own) {
            this.own = own;
        }

        @Override
        public Arg emit(Op op, List<Arg> args) {
            return own.emit(op, args, node.origin());
        }

        @Override
        public TensorType type(Arg value) {
            return own.type(value);
        }

        @Override
        public void requireThat(boolean holds, String what, String expected) {
            node.requireThat(holds, what, expected);
        }

        @Override
        public KilnException failure(String what, String expected) {
            return node.failure(what, expected);
        }
    }
}
