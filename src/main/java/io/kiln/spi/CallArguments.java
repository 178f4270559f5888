// SPDX-License-Identifier: Apache-2.0
package io.kiln.spi;

import java.util.List;

/**
 * What a call of a generated function passes beside tensors. The function returns 0, or anything else for an error, which ends the run.
 *
 * @param tables constants, which become the model's, in the order of the parameters
 * @param contextBytes bytes of memory that it uses while it runs, aligned to 8 bytes and not initialised
 * @param schedule what computes it, for the report
 */
public record CallArguments(List<Table> tables, long contextBytes, String schedule) {
    /** Copies the list. */
    public CallArguments {
        tables = List.copyOf(tables);
    }
}
