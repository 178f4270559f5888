// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.direct;

import static io.kiln.tir.Exprs.imm;
import static io.kiln.tir.Exprs.load;

import io.kiln.lower.Epilogue;
import io.kiln.lower.Tables;
import io.kiln.lower.layer.BiasTable;
import io.kiln.lower.layer.ConvComputation;
import io.kiln.schedule.parts.ScalarRescale;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Expr;

/** What the sums of {@link ConvDirect} begin with, and how they become results. */
sealed interface SumEnds {
    /** Whether the loops ignore the input's zero point. */
    boolean isFolded();

    /** What the sum of a channel begins with. */
    Expr start(Expr channel);

    /** Emits the statements that turn a sum into an element of the output; the suffix makes names unique. */
    void store(BlockBuilder block, String suffix, Expr sum, Expr channel, Element to);

    /** An element of a buffer. */
    record Element(Buffer output, Expr index) {}

    /** From the bias, and in the reference's steps. */
    static SumEnds of(ConvComputation conv, Tables tables) {
        BiasTable bias = BiasTable.of(conv, tables);
        return new Stepwise(bias, new Epilogue(conv.op(), bias.bound(), tables));
    }

    /** From 0, with the bias among the constants of the rescaling. */
    static SumEnds of(ScalarRescale rescale, Tables tables) {
        return new Proven(rescale, rescale.table(tables));
    }

    /** In the reference's steps. */
    record Stepwise(BiasTable bias, Epilogue epilogue) implements SumEnds {
        @Override
        public boolean isFolded() {
            return bias.isFolded();
        }

        @Override
        public Expr start(Expr channel) {
            return load(bias.buffer(), channel);
        }

        @Override
        public void store(BlockBuilder block, String suffix, Expr sum, Expr channel, Element to) {
            epilogue.store(block, suffix, sum, channel, to.output, to.index);
        }
    }

    /** By one high multiplication. */
    record Proven(ScalarRescale rescale, Buffer table) implements SumEnds {
        @Override
        public boolean isFolded() {
            return true;
        }

        @Override
        public Expr start(Expr channel) {
            return imm(0);
        }

        @Override
        public void store(BlockBuilder block, String suffix, Expr sum, Expr channel, Element to) {
            rescale.store(block, suffix, rescale.load(block, suffix, table, channel), sum, to.output, to.index);
        }
    }
}
