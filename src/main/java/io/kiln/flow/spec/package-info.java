// SPDX-License-Identifier: Apache-2.0
/** The user's request, as values. */
package io.kiln.flow.spec;
