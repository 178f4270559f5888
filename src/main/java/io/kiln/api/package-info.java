// SPDX-License-Identifier: Apache-2.0
/**
 * Kiln for other programs: compile a model, look into an archive, build firmware, run a model on this computer or on a board. This package and
 * {@link io.kiln.spi} are the only ones that keep their promises from one version to the next; the page "Compatibility" says which. No
 * signature here has a type from elsewhere than these two and the JDK.
 *
 * <pre>{@code
 * ModelArchive archive = ModelCompilation.of(Path.of("gesture.tflite"))
 *         .name("gesture")
 *         .target("c -keys=arm_cpu,cpu -mcpu=cortex-m4")
 *         .optimize(Optimization.SIZE)
 *         .compile();
 * archive.writeTo(Path.of("gesture-mlf.tar"));
 * }</pre>
 *
 * <p>Records that only Kiln makes, such as {@link io.kiln.api.ModelDescription}, may get more components in a minor version: do not call their
 * constructors. Enumerations may get more constants.
 */
package io.kiln.api;
