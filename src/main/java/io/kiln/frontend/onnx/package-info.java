// SPDX-License-Identifier: Apache-2.0
/**
 * The frontend for ONNX: {@link io.kiln.frontend.onnx.OnnxFrontend}.
 *
 * <pre>
 * file -reader-> model -ModelImporter, NodeImporter-> importers of the families -NodeContext-> io.kiln.ir.Function
 * </pre>
 *
 * {@code reader} alone knows the schema's classes; {@code model} is what everything else works with. {@code operator} is
 * what importers use. All values keep the model's own layout (NCHW): a layer's importer transposes what it gets and
 * what it computes, and a pass of {@code io.kiln.transform} removes the transposes that meet. Constants are folded as
 * they are emitted, so that the arithmetic of shapes leaves nothing behind.
 *
 * <p><b>To add a family of operators</b>:
 *
 * <ol>
 *   <li>Make a package {@code io.kiln.frontend.onnx.<family>} with a public class that has a list {@code ALL} of
 *       {@link io.kiln.frontend.onnx.operator.OnnxRegistration}: one line per operator, {@code onnx("Relu", importer)}, or
 *       {@code microsoft(...)} for ONNX Runtime's domain.
 *   <li>Add that list to {@code NodeImporter.OnnxOperators}. This is the only line outside the package.
 *   <li>An importer gets a {@link io.kiln.frontend.onnx.operator.NodeContext}: inputs ({@code arg}, {@code optional}),
 *       inputs that must be constant ({@code integers}, {@code reals}: others are refused with advice), attributes by
 *       kind with their defaults, and {@code version}, the model's opset, where ONNX changed the operator. It emits
 *       operators of the IR, best through {@link io.kiln.frontend.Formulas}, and sets its outputs by
 *       {@code finish}. What it does not support it refuses by {@code require} or {@code failure}.
 *   <li>Prefer operators that the IR has. A new one enters by its one definition, see the page "Add an operator".
 *   <li>The ONNX project's tests run by themselves: {@code mvn test -Dtest=OnnxNodeTest -Dkiln.onnx.tests=test_relu}
 *       writes the outcome of each to {@code target/onnx-node.txt}. An operator that cannot be imported gets its reason
 *       in {@code NodeImporter.UnsupportedOperators}.
 * </ol>
 */
package io.kiln.frontend.onnx;
