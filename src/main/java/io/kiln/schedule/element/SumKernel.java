// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.element;

import io.kiln.base.DType;
import io.kiln.lower.element.ProvenSum;
import io.kiln.tir.Kernel;
import io.kiln.tir.Kernel.Pointer;
import io.kiln.tir.KernelText;
import java.util.Collections;
import java.util.List;

/**
 * A core's kernel for {@link ProvenSum}: a loop in assembly, which is the same with every compiler, and its twin in C. Its arguments are
 * both sides, the results, their number, and the sum's factors, offset and limits.
 */
sealed interface SumKernel permits MveSum, RiscVSum, Thumb1Sum, Thumb2Sum {
    /** Name of the schedule. */
    String schedule();

    /** Why the schedule was chosen. */
    String reason();

    Kernel kernel();

    /** Whether results have narrower limits than int8. */
    static boolean hasLimits(ProvenSum sum) {
        return sum.low() > DType.INT8.min() || sum.high() < DType.INT8.max();
    }

    /**
     * The kernel of a text.
     *
     * @param name C name
     * @param sum what it computes
     * @param condition of the preprocessor for the assembly
     * @param assembly statements of C
     */
    static Kernel of(String name, ProvenSum sum, String condition, String assembly) {
        String definition = KernelText.of("portable/sum_of_bytes")
                .with("NAME", name)
                .with("SHIFT", sum.shift())
                .with("CONDITION", condition)
                .with("ASSEMBLY", assembly)
                .text();
        return new Kernel(
                name,
                List.of(Pointer.in(DType.INT8), Pointer.in(DType.INT8), Pointer.out(DType.INT8)),
                Collections.nCopies(6, DType.INT32),
                List.of(),
                definition,
                List.of());
    }
}
