// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule;

import io.kiln.base.DType;
import io.kiln.tir.Kernel;
import io.kiln.tir.Kernel.Pointer;
import java.util.List;

/** Micro-kernels for MVE that copy or fill runs of bytes, 16 at a time. */
final class MveCopy {
    /** Longest run of one call: offsets of vector loads and stores go up to 127. */
    static final int MOST_RUN = 128;

    /** {@code fill(to, value, bytes)}. */
    static final Kernel FILL = new Kernel(
            "kiln_mve_fill",
            List.of(Pointer.out(DType.INT8)),
            List.of(DType.INT32, DType.INT32),
            List.of(),
            """
            /* Sets bytes to a value. */
            static __attribute__((noinline)) void kiln_mve_fill(int8_t* to, int32_t value, int32_t bytes) {
            #if %s
              __asm__ volatile(
            %s      : [to] "+r"(to)
                  : [value] "r"(value), [bytes] "r"(bytes)
                  : "lr", "q0", "cc", "memory");
            #else
              for (int32_t i = 0; i < bytes; ++i) {
                to[i] = (int8_t)value;
              }
            #endif
            }
            """.formatted(MveText.CONDITION, MveText.lines("""
                            vdup.8 q0, %[value]
                            wlstp.8 lr, %[bytes], 2f
                            1:
                            vstrb.8 q0, [%[to]], #16
                            letp lr, 1b
                            2:
                            """)),
            List.of());

    private MveCopy() {}

    /** {@code spread(from, to, count, from_step, to_step)}: copies {@code count} runs of bytes. */
    static Kernel spread(int run) {
        String name = "kiln_mve_spread_" + run;
        String head = "/* Copies runs of " + run
                + " bytes; steps lie between their beginnings. */\nstatic __attribute__((noinline)) void " + name
                + "(const int8_t* from, int8_t* to, int32_t count, int32_t from_step, int32_t to_step) {\n";
        String twin = """
                  for (int32_t i = 0; i < count; ++i) {
                    for (int32_t k = 0; k < %d; ++k) {
                      to[i * to_step + k] = from[i * from_step + k];
                    }
                  }
                """.formatted(run);
        String vectors = """
                  __asm__ volatile(
                %s        : [from] "+l"(from), [to] "+l"(to)
                        : [count] "r"(count), [from_step] "r"(from_step), [to_step] "r"(to_step), [rest] "r"(%d)
                        : "lr", "q0", "cc", "memory");
                """.formatted(MveText.lines(spreadLoop(run)), run % 16);
        return kernel(name, head, List.of(Pointer.in(DType.INT8), Pointer.out(DType.INT8)), 3, vectors, twin);
    }

    private static String spreadLoop(int run) {
        StringBuilder out = new StringBuilder("vctp.8 %[rest]\nwls lr, %[count], 2f\n1:\n");
        for (int k = 0; k < run; k += 16) {
            boolean part = k + 16 > run;
            String place = ", #" + k + "]\n";
            out.append(part ? "vpstt\nvldrbt.8 q0, [%[from]" : "vldrb.8 q0, [%[from]")
                    .append(place);
            out.append(part ? "vstrbt.8 q0, [%[to]" : "vstrb.8 q0, [%[to]").append(place);
        }
        return out.append("adds %[from], %[from], %[from_step]\nadds %[to], %[to], %[to_step]\nle lr, 1b\n2:\n")
                .toString();
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
        StringBuilder loop = new StringBuilder("vctp.8 %[rest]\nvdup.8 q0, %[value]\nwls lr, %[count], 2f\n1:\n");
        for (int k = 0; k < run; k += 16) {
            loop.append(k + 16 > run ? "vpst\nvstrbt.8" : "vstrb.8").append(" q0, [%[to], #" + k + "]\n");
        }
        loop.append("adds %[to], %[to], %[step]\nle lr, 1b\n2:\n");
        String vectors = """
                  __asm__ volatile(
                %s        : [to] "+l"(to)
                        : [value] "r"(value), [count] "r"(count), [step] "r"(step), [rest] "r"(%d)
                        : "lr", "q0", "cc", "memory");
                """.formatted(MveText.lines(loop.toString()), run % 16);
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
        return new Kernel(
                name, pointers, java.util.Collections.nCopies(scalars, DType.INT32), List.of(), definition, List.of());
    }
}
