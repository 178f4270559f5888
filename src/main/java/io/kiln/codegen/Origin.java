// SPDX-License-Identifier: Apache-2.0
package io.kiln.codegen;

import io.kiln.target.Target;

/**
 * What a generated file says of where it comes from.
 *
 * @param source name of the model file
 * @param target what it was generated for
 */
public record Origin(String source, Target target) {}
