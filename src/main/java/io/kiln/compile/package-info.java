// SPDX-License-Identifier: Apache-2.0
/** The compiler's road: a request, which names a model file, a target and what to favour, becomes a model library. */
package io.kiln.compile;
