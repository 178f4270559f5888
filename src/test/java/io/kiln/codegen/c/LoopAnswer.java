// SPDX-License-Identifier: Apache-2.0
package io.kiln.codegen.c;

import io.kiln.base.Bytes;
import java.util.List;

/**
 * What became of a run, twice: with what may be touched ending at the guarded memory, and beginning behind it.
 *
 * @param failures what went wrong, for people; empty if nothing did
 * @param outputs what the output's region held afterwards; a byte that was not written differs in the two
 */
public record LoopAnswer(List<String> failures, List<Bytes> outputs) {
    public LoopAnswer {
        failures = List.copyOf(failures);
        outputs = List.copyOf(outputs);
    }
}
