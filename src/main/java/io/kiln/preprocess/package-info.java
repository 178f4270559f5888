// SPDX-License-Identifier: Apache-2.0
/**
 * The signal processing that turns audio into a model's input: described in YAML, planned as integers and tables, interpreted in Java and
 * printed as C. Both give the same bytes. The packages of the compiler and of the firmware do not know it.
 *
 * <p>Models may compute features themselves, with the operators of {@link io.kiln.ir.op.signal}, which answer as TensorFlow Lite Micro does.
 * Both share what is the same arithmetic: the table of logarithms ({@link io.kiln.ir.arith.ScaledLogarithm}), the integer square root
 * ({@link io.kiln.ir.arith.SquareRoot}) and clamping. The rest answers differently, and is therefore separate:
 *
 * <table>
 * <caption>Where preprocessing and the operators of signal processing differ</caption>
 * <tr><th>Step</th><th>Preprocessing</th><th>Operators of {@code tfl.signal}</th></tr>
 * <tr><td>Window</td><td>unsigned factors of 15 bits; one more fraction bit is kept, rounded</td><td>signed factors; shifted back to int16,
 *     truncated and saturated</td></tr>
 * <tr><td>Fourier transform</td><td>radix 2; data of 32 bits, twiddles of 15 times 2^15; halves after each sum, rounded, so that cores without
 *     a long product need none</td><td>radix 4 and 2 in KISS FFT's order of digits; twiddles of as many bits as the data, times 2^15 - 1 or
 *     2^31 - 1; divides before each sum, by a rounded product</td></tr>
 * <tr><td>Power</td><td>64 bits, or the root rounded down</td><td>32 bits that wrap around; the root of a filter's sum rounded to
 *     nearest</td></tr>
 * <tr><td>Filterbank</td><td>any filters: a run of weights and a shift for each</td><td>triangles that overlap by half: each energy counts for
 *     two neighbours, by a weight and an unweight</td></tr>
 * <tr><td>Logarithm</td><td>of 64 bits, straight lines between the table's entries, any base</td><td>of 32 bits, TensorFlow Lite Micro's
 *     shorter lines between the same entries, natural</td></tr>
 * </table>
 */
package io.kiln.preprocess;
