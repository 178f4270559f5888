// SPDX-License-Identifier: Apache-2.0
/** Code generators make files from functions of the loop IR. The kind of the target selects one. */
package io.kiln.codegen;
