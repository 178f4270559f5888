// SPDX-License-Identifier: Apache-2.0
package io.kiln.quantize;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.ir.Arg;
import io.kiln.ir.Binding;
import io.kiln.ir.Function;
import io.kiln.ir.Origin;
import io.kiln.ir.Result;
import io.kiln.ir.Verifier;
import io.kiln.ir.op.Operand.Role;
import io.kiln.ir.op.Trait;
import io.kiln.ir.op.element.QnnDequantize;
import io.kiln.ir.op.element.QnnQuantize;
import io.kiln.ir.op.movement.Copy;
import io.kiln.ir.type.TensorType;
import io.kiln.quantize.graph.FloatGraph;
import io.kiln.transform.FoldChannelFactors;
import io.kiln.transform.FoldPadding;
import io.kiln.transform.Pass;
import io.kiln.transform.Pipeline.EliminateDeadBindings;
import io.kiln.transform.Pipeline.FoldConstants;
import io.kiln.transform.RealWeights;
import io.kiln.transform.RealWeights.WholePrecision;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Prepares a float model: constants, normalization, padding and clamps become parts of the layers. */
final class FloatModel {
    private static final List<Pass> PASSES = List.of(
            new WholePrecision(),
            new FoldConstants(),
            new RealWeights(),
            new FoldChannelFactors(),
            new FoldPadding(),
            new EliminateDeadBindings());

    private FloatModel() {}

    /**
     * The network to quantize.
     *
     * @throws KilnException if the model has no float inputs, integer operators, or operators that only the user's C can compute
     */
    static FloatGraph of(Function model) {
        model.opaque().ifPresent(binding -> {
            throw refused(
                    model,
                    "only the C function of " + binding.op().name() + " knows what it computes",
                    binding.origin().text());
        });
        boolean isFloat = model.params().stream().anyMatch(p -> p.type().dtype().isFloat())
                && model.bindings().stream().anyMatch(b -> b.type().dtype().isFloat() && !b.op().has(Trait.VIEW));
        if (!isFloat) {
            throw refused(model, "the model has no float inputs", model.name());
        }
        model.bindings().stream()
                .filter(binding -> binding.op() instanceof QnnQuantize || binding.op() instanceof QnnDequantize)
                .findFirst()
                .ifPresent(binding -> {
                    throw refused(
                            model,
                            "the model has quantized operators already",
                            binding.origin().text());
                });
        Function prepared = model;
        for (Pass pass : PASSES) {
            prepared = pass.run(prepared);
            Verifier.verify(prepared);
        }
        return FloatGraph.of(VariableReads.copied(prepared));
    }

    private static KilnException refused(Function model, String what, String where) {
        return Failure.QUANTIZE.exception(
                what,
                where,
                "a float model of operators that can be computed at build time",
                "Set kiln.quantize to none for `" + model.name() + "`");
    }

    /** Makes each read of a variable as data a copy of its own, since values of a plan are what operators compute. */
    private static final class VariableReads {
        private final Function function;
        private final Map<Integer, TensorType> variables = new HashMap<>();
        private final List<Binding> bindings = new ArrayList<>();
        private int next;

        private VariableReads(Function function) {
            this.function = function;
            function.variables().forEach(v -> variables.put(v.id(), v.type()));
            this.next = function.types().keySet().stream()
                    .mapToInt(id -> id + 1)
                    .max()
                    .orElse(0);
        }

        /** The function with these copies. */
        static Function copied(Function function) {
            return new VariableReads(function).copied();
        }

        private Function copied() {
            for (Binding binding : function.bindings()) {
                List<Arg> args = new ArrayList<>(binding.args());
                for (int i = 0; i < args.size(); i++) {
                    boolean isData = binding.op().role(i) == Role.DATA && !(binding.op() instanceof Copy);
                    if (isData && args.get(i) instanceof Arg.Ref ref && variables.containsKey(ref.id())) {
                        args.set(i, new Arg.Ref(copy(ref.id(), binding.origin())));
                    }
                }
                bindings.add(binding.with(args));
            }
            List<Result> results = function.results().stream()
                    .map(result -> variables.containsKey(result.id())
                            ? result.of(copy(result.id(), new Origin(function.name(), 0, "Copy", result.name())))
                            : result)
                    .toList();
            return function.withBindings(bindings).withResults(results);
        }

        private int copy(int variable, Origin origin) {
            bindings.add(
                    new Binding(next, new Copy(), List.of(new Arg.Ref(variable)), variables.get(variable), origin));
            return next++;
        }
    }
}
