// SPDX-License-Identifier: Apache-2.0
package io.kiln.artifact;

import io.kiln.base.Failure;
import io.kiln.base.KilnException;

/**
 * How programs hand tensors to a model, and how its main function hands them to operators: the combinations of microTVM's {@code interface-api}
 * and {@code unpacked-api} that its C runtime has.
 */
public enum Convention {
    /** {@code c}, unpacked: structs with one typed member for each tensor, in a header of the model's own; operators take pointers. */
    TYPED("c", true),
    /** {@code packed}, unpacked: programs hand in {@code TVMValue}s with {@code DLTensor}s; operators take pointers. */
    PACKED_ENTRY("packed", true),
    /** {@code packed}, not unpacked: operators and main function have the packed signature, too. */
    PACKED("packed", false);

    private final String interfaceApi;
    private final boolean unpackedApi;

    Convention(String interfaceApi, boolean unpackedApi) {
        this.interfaceApi = interfaceApi;
        this.unpackedApi = unpackedApi;
    }

    /** The value of {@code kiln.interfaceApi}. */
    public String interfaceApi() {
        return interfaceApi;
    }

    /** The value of {@code kiln.unpackedApi}. */
    public boolean unpackedApi() {
        return unpackedApi;
    }

    /** Whether the entry point has the packed signature; then there is no header. */
    public boolean hasPackedEntry() {
        return this != TYPED;
    }

    /**
     * The convention of two parameters.
     *
     * @param interfaceApi {@code c} or {@code packed}
     * @param unpackedApi whether operators take pointers
     * @throws KilnException if there is no such interface, or no such combination
     */
    public static Convention of(String interfaceApi, boolean unpackedApi) {
        for (Convention convention : values()) {
            if (convention.interfaceApi.equals(interfaceApi) && convention.unpackedApi == unpackedApi) {
                return convention;
            }
        }
        if (interfaceApi.equals(TYPED.interfaceApi)) {
            throw Failure.CONFIG.exception(
                    "kiln.unpackedApi is false with kiln.interfaceApi c: an entry point with structs calls no packed"
                            + " operators",
                    "",
                    "c with true, packed with true, or packed with false",
                    "Set kiln.interfaceApi to packed, or leave kiln.unpackedApi out");
        }
        throw Failure.CONFIG.exception(
                "kiln.interfaceApi is '" + interfaceApi + "'", "", "one of c, packed", "Change kiln.interfaceApi");
    }
}
