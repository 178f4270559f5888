// SPDX-License-Identifier: Apache-2.0
package io.kiln.codegen;

import io.kiln.target.Target;

/**
 * The origin of a generated file.
 *
 * @param source name of the model file
 * @param target the target of the code
 */
public record CodeOrigin(String source, Target target) {}
