// SPDX-License-Identifier: Apache-2.0
/**
 * From a model library and a board to an image: assembles a C project, compiles what changed, links, writes the image
 * in every format and measures it. Knows no operators.
 */
package io.kiln.firmware;
