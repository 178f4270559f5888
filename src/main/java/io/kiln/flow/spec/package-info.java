// SPDX-License-Identifier: Apache-2.0
/** What a user asks for, as values. */
package io.kiln.flow.spec;
