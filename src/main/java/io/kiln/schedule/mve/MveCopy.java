// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.mve;

import io.kiln.base.DType;
import io.kiln.tir.BlockBuilder;
import io.kiln.tir.Buffer;
import io.kiln.tir.Exprs;
import io.kiln.tir.Kernel;
import io.kiln.tir.Kernel.Pointer;
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
        String head = """
                /* Copies runs of %d bytes that begin %d bytes apart to places %d bytes apart. */
                static __attribute__((noinline)) void %s(const int8_t* from, int8_t* to, int32_t count) {
                """.formatted(run, fromStep, toStep, name);
        String twin = """
                  for (int32_t i = 0; i < count; ++i) {
                    for (int32_t k = 0; k < %d; ++k) {
                      to[i * %d + k] = from[i * %d + k];
                    }
                  }
                """.formatted(run, toStep, fromStep);
        String vectors = """
                  __asm__ volatile(
                %s      : [from] "+l"(from), [to] "+l"(to)
                      : [count] "r"(count)%s%s%s
                      : "lr", "q0", "cc", "memory");
                """.formatted(
                        MveText.lines(spreadLoop(run, fromStep, toStep)),
                        run % 16 == 0 ? "" : ", [rest] \"r\"(" + run % 16 + ")",
                        fromStep <= MOST_OFFSET ? "" : ", [from_step] \"r\"(" + fromStep + ")",
                        toStep <= MOST_OFFSET ? "" : ", [to_step] \"r\"(" + toStep + ")");
        return kernel(name, head, List.of(Pointer.in(DType.INT8), Pointer.out(DType.INT8)), 1, vectors, twin);
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
        String head = "/* Sets runs of " + run
                + " bytes to a value; a step lies between their beginnings. */\nstatic __attribute__((noinline)) void "
                + name + "(int8_t* to, int32_t value, int32_t count, int32_t step) {\n";
        String twin = """
                  for (int32_t i = 0; i < count; ++i) {
                    for (int32_t k = 0; k < %d; ++k) {
                      to[i * step + k] = (int8_t)value;
                    }
                  }
                """.formatted(run);
        StringBuilder loop = new StringBuilder(run % 16 == 0 ? "" : "vctp.8 %[rest]\n")
                .append("vdup.8 q0, %[value]\nwls lr, %[count], 2f\n1:\n");
        for (int k = 0; k < run; k += 16) {
            loop.append(k + 16 > run ? "vpst\nvstrbt.8" : "vstrb.8").append(" q0, [%[to], #" + k + "]\n");
        }
        loop.append("adds %[to], %[to], %[step]\nle lr, 1b\n2:\n");
        String vectors =
                """
                  __asm__ volatile(
                %s        : [to] "+l"(to)
                        : [value] "r"(value), [count] "r"(count), [step] "r"(step)%s
                        : "lr", "q0", "cc", "memory");
                """.formatted(MveText.lines(loop.toString()), run % 16 == 0 ? "" : ", [rest] \"r\"(" + run % 16 + ")");
        return kernel(name, head, List.of(Pointer.out(DType.INT8)), 3, vectors, twin);
    }

    private static Kernel kernel(
            String name, String head, List<Pointer> pointers, int scalars, String vectors, String twin) {
        String definition = """
                %s#if %s
                %s#else
                %s#endif
                }
                """.formatted(head, MveText.CONDITION, vectors, twin);
        return new Kernel(name, pointers, Collections.nCopies(scalars, DType.INT32), List.of(), definition, List.of());
    }
}
