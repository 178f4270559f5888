// SPDX-License-Identifier: Apache-2.0
package io.kiln.quantize;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;
import io.kiln.ir.Function;
import io.kiln.ir.Verifier;
import io.kiln.ir.op.Trait;
import io.kiln.ir.op.element.QnnDequantize;
import io.kiln.ir.op.element.QnnQuantize;
import io.kiln.quantize.graph.FloatGraph;
import io.kiln.transform.EliminateDeadBindings;
import io.kiln.transform.FoldChannelFactors;
import io.kiln.transform.FoldConstants;
import io.kiln.transform.FoldPadding;
import io.kiln.transform.Pass;
import io.kiln.transform.RealWeights;
import io.kiln.transform.WholePrecision;
import java.util.List;

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
        return new KilnException(Failure.QUANTIZE.problem(
                what,
                where,
                "a float model of operators that can be computed at build time",
                "Set kiln.quantize to none for `" + model.name() + "`"));
    }
}
