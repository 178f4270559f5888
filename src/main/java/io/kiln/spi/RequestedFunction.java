// SPDX-License-Identifier: Apache-2.0
package io.kiln.spi;

/** A C function that computes a chain of operators. */
public interface RequestedFunction {
    /**
     * Its name.
     *
     * @return {@code tvmgen_<model>_<code generator>_main_<n>}
     */
    String symbol();

    /**
     * Its declaration, without a semicolon: {@code int32_t symbol(const T* input…, const T* table…, T* output_, uint8_t* context_, void*
     * device_)}. A single input is {@code input_}, several are {@code input_0}, {@code input_1} and so on; a table has its name and an
     * underscore. The context is left out if it needs none, the device if the code generator has none.
     *
     * @return C
     */
    String prototype();

    /**
     * What it computes.
     *
     * @return the operators
     */
    OperatorChain operators();
}
