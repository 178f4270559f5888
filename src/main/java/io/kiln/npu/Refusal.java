// SPDX-License-Identifier: Apache-2.0
package io.kiln.npu;

/** Makes the exception for bytes that cannot be read, with the place that the reader of the file knows. */
@FunctionalInterface
public interface Refusal {
    /**
     * The exception.
     *
     * @param what what is wrong, with its offset
     * @param expected what should be there
     */
    RuntimeException of(String what, String expected);
}
