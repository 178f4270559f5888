// SPDX-License-Identifier: Apache-2.0
/**
 * The compiler as a library: a {@link io.kiln.compile.CompileRequest request} becomes a {@link io.kiln.artifact.ModelLibrary model library}. It
 * knows neither boards nor Maven. With {@code Path model}, a {@code .tflite}, {@code .onnx} or {@code .relay} file, and {@code Path folder}:
 *
 * <pre>{@code
 * CompileRequest request = new CompileRequest(
 *         new CompileRequest.ModelInput(model, "gesture"),
 *         CodeTarget.of("c -keys=arm_cpu,cpu -mcpu=cortex-m4"),
 *         CompileOptions.DEFAULT.with(Optimize.SIZE),
 *         Optional.empty());
 * ModelLibrary library = ModelCompiler.compile(request).library();
 *
 * for (Artifact source : library.artifacts().of(ArtifactKind.SOURCE)) {
 *     Files.writeString(folder.resolve(source.fileName()), source.text());
 * }
 * Options options = Options.of(7, Optional.empty(), "1.0");
 * Bytes archive = ModelLibraryFormat.write(List.of(library), options);
 * Files.write(folder.resolve("gesture-mlf.tar"), archive.toArray());
 * }</pre>
 *
 * <p>Programs of others take {@code io.kiln.api}, which keeps its promises from one version to the next; this package does not.
 *
 * <p>All errors of the request or the model come in one {@link io.kiln.base.KilnException}, whose problems say what to
 * do.
 *
 * <p>The stages: {@link io.kiln.compile.Frontends} reads the file, passes transform its function, operators are lowered
 * and planned, an {@link io.kiln.executor.ExecutableModule.Executor executor} adds the code that calls them, and a {@link
 * io.kiln.codegen.CodeGenerator code generator} prints the code.
 */
package io.kiln.compile;
