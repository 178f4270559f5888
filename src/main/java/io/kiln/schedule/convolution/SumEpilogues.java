// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.convolution;

import static io.kiln.tir.Exprs.imm;
import static io.kiln.tir.Exprs.load;

import io.kiln.lower.Epilogue;
import io.kiln.lower.Tables;
import io.kiln.lower.layer.BiasTable;
import io.kiln.lower.layer.ConvComputation;
import io.kiln.schedule.parts.ScalarRequantize;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;
import java.util.ArrayList;
import java.util.List;

/** What the sums of {@link ConvDirectSchedule} begin with, and how they become results. */
sealed interface SumEpilogues {
    /** Whether the loops ignore the input's zero point. */
    boolean isFolded();

    /** What the sum of a channel begins with. */
    Expr start(Expr channel);

    /** Emits the statements that turn sums into elements of the output. */
    void store(BlockBuilder block, List<Sum> sums, Buffer output);

    /**
     * A sum of a channel.
     *
     * @param value the sum
     * @param index of its element in the output
     */
    record Sum(Expr value, Expr channel, Expr index) {}

    /** From the bias, and in the reference's steps. */
    static SumEpilogues of(ConvComputation conv, Tables tables) {
        BiasTable bias = BiasTable.of(conv, tables);
        return new Stepwise(bias, new Epilogue(conv.op(), bias.bound(), tables));
    }

    /** From 0, with the bias among the constants of the rescaling. */
    static SumEpilogues of(ScalarRequantize rescale, Tables tables) {
        return new Proven(rescale, rescale.table(tables));
    }

    /** In the reference's steps. */
    record Stepwise(BiasTable bias, Epilogue epilogue) implements SumEpilogues {
        @Override
        public boolean isFolded() {
            return bias.isFolded();
        }

        @Override
        public Expr start(Expr channel) {
            return load(bias.buffer(), channel);
        }

        /** Limits have branches: before them, compilers interleave the sums' multiplications. */
        @Override
        public void store(BlockBuilder block, List<Sum> sums, Buffer output) {
            List<Expr> results = new ArrayList<>();
            for (Sum sum : sums) {
                results.add(epilogue.value(block, String.valueOf(results.size()), sum.value, sum.channel));
            }
            for (int i = 0; i < results.size(); i++) {
                block.store(output, sums.get(i).index, results.get(i));
            }
        }
    }

    /** By one high multiplication. */
    record Proven(ScalarRequantize rescale, Buffer table) implements SumEpilogues {
        @Override
        public boolean isFolded() {
            return true;
        }

        @Override
        public Expr start(Expr channel) {
            return imm(0);
        }

        @Override
        public void store(BlockBuilder block, List<Sum> sums, Buffer output) {
            for (int i = 0; i < sums.size(); i++) {
                Sum sum = sums.get(i);
                String suffix = String.valueOf(i);
                ScalarRequantize.Constants constants = rescale.load(block, suffix, table, sum.channel);
                rescale.store(block, suffix, constants, sum.value, output, sum.index);
            }
        }
    }
}
