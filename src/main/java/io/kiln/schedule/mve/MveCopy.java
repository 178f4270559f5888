// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.mve;

import io.kiln.base.DType;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Exprs;
import io.kiln.tir.Kernel;
import io.kiln.tir.Kernel.Pointer;
import io.kiln.tir.KernelText;
import java.util.Collections;
import java.util.List;

/** Micro-kernels for MVE that copy or fill runs of bytes, 16 at a time. */
final class MveCopy {
    /** Longest run of one call: offsets of vector loads and stores go up to 127. */
    static final int MOST_RUN = 128;

    private static final int MOST_OFFSET = 127;

    /** {@code fill(to, value, bytes)}. */
    static final Kernel FILL =
            Kernel.inFile("mve/kiln_mve_fill", List.of(Pointer.out(DType.INT8)), List.of(DType.INT32, DType.INT32));

    /** {@code copy(from, to, bytes)}. */
    static final Kernel COPY = Kernel.inFile(
            "mve/kiln_mve_copy", List.of(Pointer.in(DType.INT8), Pointer.out(DType.INT8)), List.of(DType.INT32));

    private static final KernelText SPREAD = KernelText.of("mve/spread");
    private static final KernelText FILL_EVERY = KernelText.of("mve/fill_every");

    private MveCopy() {}

    /** Sets bytes of a buffer, unless there are none. */
    static void fill(BlockBuilder block, String name, Buffer buffer, int place, int bytes, int value) {
        if (bytes > 0) {
            Buffer to = block.mutableView(name, buffer, Exprs.imm(place));
            block.call(FILL, List.of(to), List.of(Exprs.imm(value), Exprs.imm(bytes)));
        }
    }

    /**
     * {@code spread(from, to, count)}: copies {@code count} runs of bytes.
     *
     * @param run bytes of a run, at most {@link #MOST_RUN}
     * @param fromStep bytes between the beginnings of runs
     * @param toStep likewise where they go
     */
    static Kernel spread(int run, int fromStep, int toStep) {
        String name = "kiln_mve_spread_" + run + "_" + fromStep + "_" + toStep;
        KernelText text = SPREAD.with("NAME", name)
                .with("RUN", run)
                .with("FROM_STEP", fromStep)
                .with("TO_STEP", toStep)
                .with("INSTRUCTIONS", MveText.lines(spreadLoop(run, fromStep, toStep)))
                .with(
                        "OPERANDS",
                        "[count] \"r\"(count)"
                                + rest(run)
                                + (fromStep <= MOST_OFFSET ? "" : ", [from_step] \"r\"(" + fromStep + ")")
                                + (toStep <= MOST_OFFSET ? "" : ", [to_step] \"r\"(" + toStep + ")"));
        return kernel(name, List.of(Pointer.in(DType.INT8), Pointer.out(DType.INT8)), 1, text);
    }

    /** The operand with the number of bytes that do not fill a vector. */
    private static String rest(int run) {
        return run % 16 == 0 ? "" : ", [rest] \"r\"(" + run % 16 + ")";
    }

    /** Instructions for one run of bytes, where steps are short. */
    static int cost(int run) {
        return 2 * ((run + 15) / 16) + (run % 16 == 0 ? 0 : 1) + 1;
    }

    /** Vectors from the last to the first, whose instructions move the pointers on. */
    private static String spreadLoop(int run, int fromStep, int toStep) {
        StringBuilder out = new StringBuilder(run % 16 == 0 ? "" : "vctp.8 %[rest]\n");
        out.append("wls lr, %[count], 2f\n1:\n");
        for (int k = (run - 1) / 16 * 16; k >= 0; k -= 16) {
            boolean part = k + 16 > run;
            String then = part ? "t" : "";
            out.append(part ? "vpstt\n" : "");
            out.append("vldrb").append(then).append(".8 q0, [%[from]").append(place(k, fromStep));
            out.append("vstrb").append(then).append(".8 q0, [%[to]").append(place(k, toStep));
        }
        out.append(fromStep <= MOST_OFFSET ? "" : "adds %[from], %[from], %[from_step]\n");
        out.append(toStep <= MOST_OFFSET ? "" : "adds %[to], %[to], %[to_step]\n");
        return out.append("le lr, 1b\n2:\n").toString();
    }

    private static String place(int offset, int step) {
        return offset > 0 ? ", #" + offset + "]\n" : step <= MOST_OFFSET ? "], #" + step + "\n" : "]\n";
    }

    /** {@code fill_every(to, value, count, step)}: sets {@code count} runs of bytes to a value. */
    static Kernel fillEvery(int run) {
        String name = "kiln_mve_fill_every_" + run;
        StringBuilder loop = new StringBuilder(run % 16 == 0 ? "" : "vctp.8 %[rest]\n")
                .append("vdup.8 q0, %[value]\nwls lr, %[count], 2f\n1:\n");
        for (int k = 0; k < run; k += 16) {
            loop.append(k + 16 > run ? "vpst\nvstrbt.8" : "vstrb.8").append(" q0, [%[to], #" + k + "]\n");
        }
        loop.append("adds %[to], %[to], %[step]\nle lr, 1b\n2:\n");
        KernelText text = FILL_EVERY
                .with("NAME", name)
                .with("RUN", run)
                .with("INSTRUCTIONS", MveText.lines(loop.toString()))
                .with("OPERANDS", "[value] \"r\"(value), [count] \"r\"(count), [step] \"r\"(step)" + rest(run));
        return kernel(name, List.of(Pointer.out(DType.INT8)), 3, text);
    }

    private static Kernel kernel(String name, List<Pointer> pointers, int scalars, KernelText text) {
        return new Kernel(name, pointers, Collections.nCopies(scalars, DType.INT32), List.of(), text.text(), List.of());
    }
}
