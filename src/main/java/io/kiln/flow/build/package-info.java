// SPDX-License-Identifier: Apache-2.0
/** The steps that make an image: generate, assemble, compile, link. */
package io.kiln.flow.build;
