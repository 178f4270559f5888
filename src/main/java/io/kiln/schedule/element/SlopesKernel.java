// SPDX-License-Identifier: Apache-2.0
package io.kiln.schedule.element;

import io.kiln.base.DType;
import io.kiln.lower.element.ProvenSlopes;
import io.kiln.tir.Kernel;
import io.kiln.tir.Kernel.Pointer;
import io.kiln.tir.KernelText;
import java.util.Collections;
import java.util.List;

/**
 * A core's kernel for {@link ProvenSlopes}: a loop in assembly, which is the same with every compiler, and its twin in C. Its arguments are the
 * elements, the results, their number, multiplier and offset of values from 0 on, and by how much more those of values below 0 are.
 */
sealed interface SlopesKernel permits DspSlopes, MveSlopes, RiscVSlopes {
    /** Name of the schedule. */
    String schedule();

    Kernel kernel();

    /**
     * The kernel of a text.
     *
     * @param prefix of its C name
     * @param slopes what it computes
     * @param condition of the preprocessor for the assembly
     * @param assembly statements of C
     */
    static Kernel of(String prefix, ProvenSlopes slopes, String condition, String assembly) {
        String name = prefix + "_" + slopes.shift() + (slopes.fits() ? "" : "_s") + (slopes.hasOneOffset() ? "" : "_o");
        String definition = KernelText.of("portable/slopes_of_shorts")
                .with("NAME", name)
                .with("SHIFT", slopes.shift())
                .with("CONDITION", condition)
                .with("ASSEMBLY", assembly)
                .text();
        return new Kernel(
                name,
                List.of(Pointer.in(DType.INT16), Pointer.out(DType.INT16)),
                Collections.nCopies(5, DType.INT32),
                List.of(),
                definition,
                List.of());
    }
}
