// SPDX-License-Identifier: Apache-2.0
/** From a specification to a build whose board, toolchain and models are known and fit together. */
package io.kiln.flow.resolve;
