// SPDX-License-Identifier: Apache-2.0
package io.kiln.lower.signal;

import static io.kiln.base.DType.INT16;
import static io.kiln.base.DType.UINT32;
import static io.kiln.base.DType.UINT64;
import static io.kiln.tir.Exprs.add;
import static io.kiln.tir.Exprs.cast;
import static io.kiln.tir.Exprs.imm;
import static io.kiln.tir.Exprs.load;
import static io.kiln.tir.Exprs.mul;

import io.kiln.ir.Binding;
import io.kiln.ir.Constant;
import io.kiln.ir.op.signal.FilterBankAccumulate;
import io.kiln.lower.Tables;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import java.util.stream.IntStream;

/** The sums of a filter bank, channel after channel: the sum over a channel's unweights goes to the next channel. */
final class FilterBankSums {
    private final Binding binding;
    private final Tables tables;
    private final int channels;

    FilterBankSums(Binding binding, Tables tables) {
        this.binding = binding;
        this.tables = tables;
        this.channels = ((FilterBankAccumulate) binding.op()).channels();
    }

    void emit(BlockBuilder body, Buffer energies, Buffer output) {
        Buffer weights = table("weights", FilterBankAccumulate.WEIGHTS);
        Buffer unweights = table("unweights", FilterBankAccumulate.UNWEIGHTS);
        Buffer energyStarts = table("energy_starts", FilterBankAccumulate.ENERGY_STARTS);
        Buffer weightStarts = table("weight_starts", FilterBankAccumulate.WEIGHT_STARTS);
        Buffer widths = table("widths", FilterBankAccumulate.WIDTHS);
        Expr.Var sum = body.mutable("sum", imm(0, UINT64));
        body.loop("i", at(FilterBankAccumulate.WIDTHS, 0), (block, i) -> {
            Expr energy = load(energies, add(i, at(FilterBankAccumulate.ENERGY_STARTS, 0)));
            Expr weight = load(unweights, add(i, at(FilterBankAccumulate.WEIGHT_STARTS, 0)));
            block.assign(sum, add(sum, product(FilterBankAccumulate.UNWEIGHTS, weight, energy)));
        });
        body.loop("c", channels, (block, c) -> {
            Expr energyStart = block.let("energy_start", load(energyStarts, add(c, 1)));
            Expr weightStart = block.let("weight_start", load(weightStarts, add(c, 1)));
            Expr width = block.let("width", load(widths, add(c, 1)));
            Expr.Var next = block.mutable("next", imm(0, UINT64));
            block.loop("i", imm(0), width, 1, (inner, i) -> {
                Expr energy = inner.let("energy", load(energies, add(energyStart, i)));
                Expr weight = load(weights, add(weightStart, i));
                Expr unweight = load(unweights, add(weightStart, i));
                inner.assign(sum, add(sum, product(FilterBankAccumulate.WEIGHTS, weight, energy)));
                inner.assign(next, add(next, product(FilterBankAccumulate.UNWEIGHTS, unweight, energy)));
            });
            block.store(output, c, sum);
            block.assign(sum, next);
        });
    }

    private Buffer table(String name, int argument) {
        return tables.add(name, INT16, binding.constant(argument).data());
    }

    private int at(int argument, int index) {
        return (int) binding.constant(argument).integer(index);
    }

    /** Weights are nearly always positive: as unsigned numbers, one instruction multiplies them by 32 bits to 64. */
    private Expr product(int argument, Expr weight, Expr energy) {
        Constant values = binding.constant(argument);
        boolean positive = IntStream.range(0, values.elements()).allMatch(i -> values.integer(i) >= 0);
        return mul(cast(UINT64, positive ? cast(UINT32, weight) : weight), cast(UINT64, energy));
    }
}
